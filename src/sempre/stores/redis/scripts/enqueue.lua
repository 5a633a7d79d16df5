-- needs: base rows switches unique
-- Put one-off work in; each receipt is an id, whether it was created, and who rejected it.
local switches, receipts = switches_off(), {}
for place = 1, number() do
    local id, row = argument(), fields()
    local mode, unique, period = argument(), argument(), number()
    local switch = stopping(switches, row)
    local other = mode ~= "" and in_the_way(unique, mode, period, "")
    if exists(id) then
        receipts[place] = { id, 1, "" }
    elseif switch and switch[3] == "reject" then
        receipts[place] = { id, 0, switch[1] }
    elseif other then
        receipts[place] = { other, 0, "" }
    else
        row.created_at = now
        row.held_by = switch and switch[1] or ""
        if mode ~= "" then
            row.unique, row.unique_mode, row.unique_period = unique, mode, whole(period)
            redis.call("HSET", key("unique"), unique, id)
        end
        put(id, row)
        receipts[place] = { id, 1, "" }
    end
end
return receipts
