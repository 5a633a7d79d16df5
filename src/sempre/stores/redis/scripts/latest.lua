-- needs: base known rows
-- The newest executions of each of these schedules, as many of each.
local ids, limit, found = list(), number(), {}
for place, id in ipairs(ids) do
    local name, rows = key("history-of-schedule", id), {}
    for at, member in ipairs(redis.call("ZREVRANGE", name, 0, limit - 1)) do
        rows[at] = answer(id_in(member))
    end
    found[place] = rows
end
return { now, found }
