-- needs: base rows switches
-- Put one-off work in; each receipt is an id, whether it was created, and who rejected it.
local function stands_in_the_way(id, mode, period)
    local other = id and look(id, { "state", "created_at" })
    if not other then
        return false
    end
    if mode == "period" then
        return other.created_at > later(-period)
    end
    return is_live(other) or (mode == "active" and other.state == "running")
end

local switches, receipts = switches_off(), {}
for place = 1, number() do
    local id, row = argument(), fields()
    local mode, unique, period = argument(), argument(), number()
    local switch = stopping(switches, row)
    local other = mode ~= "" and redis.call("HGET", key("unique"), unique)
    if exists(id) then
        receipts[place] = { id, 1, "" }
    elseif switch and switch[3] == "reject" then
        receipts[place] = { id, 0, switch[1] }
    elseif stands_in_the_way(other, mode, period) then
        receipts[place] = { other, 0, "" }
    else
        row.created_at = now
        row.held_by = switch and switch[1] or ""
        if mode ~= "" then
            -- Kept with the row too, so that a purge finds the key that it had.
            row.unique = unique
            redis.call("HSET", key("unique"), unique, id)
        end
        put(id, row)
        receipts[place] = { id, 1, "" }
    end
end
return receipts
