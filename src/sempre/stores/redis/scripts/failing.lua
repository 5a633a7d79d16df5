-- needs: base known rows outcomes
-- Check the next schedules in order of id. Return their number, the last id, and the names of the
-- schedules whose last outcome is a failure.
local after, limit = argument(), number()
local first = after == "" and "-" or "(" .. after
local ids = redis.call("ZRANGEBYLEX", key("schedules"), first, "+", "LIMIT", 0, limit)
local names = {}
for _, id in ipairs(ids) do
    local last = outcomes(id, 1)[1]
    if last and look(last, { "state" }).state == "failed" then
        table.insert(names, redis.call("HGET", key("schedule", id), "name"))
    end
end
return { now, { #ids, ids[#ids] or "", names } }
