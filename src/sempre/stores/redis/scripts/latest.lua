-- needs: base known rows
-- Return the newest executions of each of these schedules, up to the limit for each schedule.
local ids, limit, found = list(), number(), {}
for place, id in ipairs(ids) do
    local name, rows = key("history-of-schedule", id), {}
    for at, member in ipairs(redis.call("ZREVRANGE", name, 0, limit - 1)) do
        rows[at] = answer(id_in(member))
    end
    found[place] = rows
end
return { now, found }
