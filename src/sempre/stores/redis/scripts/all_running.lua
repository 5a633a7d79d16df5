-- needs: base known rows
-- Return the running executions of all sessions.
local found = {}
for _, session in ipairs(redis.call("SMEMBERS", key("holders"))) do
    for _, id in ipairs(redis.call("ZRANGE", key("running", session), 0, -1)) do
        table.insert(found, answer(id))
    end
end
return { now, found }
