-- needs: base known rows switches unique
-- Enqueue one-off work. Each receipt is an id, whether the execution was created, the switch that
-- rejected it, the failures in a row of its key, and until when these failures refuse it.
local switches, receipts = switches_off(), {}
for place = 1, number() do
    local id, row = argument(), fields()
    local mode, unique, period = argument(), argument(), number()
    local base, cap = number(), number()
    local switch = stopping(switches, row)
    local other = mode ~= "" and in_the_way(unique, mode, period, "")
    local failures, failed, failed_at = 0, nil, nil
    if mode ~= "" then
        failures, failed, failed_at = failures_before(unique)
    end
    local waits_until = failed and base > 0 and backed_off(failed_at, failures, base, cap) or ""
    if exists(id) then
        receipts[place] = { id, 1, "", 0, "" }
    elseif switch and switch[3] == "reject" then
        receipts[place] = { id, 0, switch[1], 0, "" }
        redis.call("HINCRBY", key("rejections"), switch[1], 1)
    elseif other then
        receipts[place] = { other, 0, "", failures, "" }
    elseif waits_until > now then
        receipts[place] = { failed, 0, "", failures, waits_until }
    else
        row.created_at = now
        row.held_by = switch and switch[1] or ""
        if mode ~= "" then
            row.unique, row.unique_mode, row.unique_period = unique, mode, whole(period)
            redis.call("HSET", key("unique"), unique, id)
            note_failures(unique, failures)
        end
        put(id, row)
        receipts[place] = { id, 1, "", failures, "" }
    end
end
return receipts
