-- needs: base known rows switches views
-- Return running executions whose session is gone or expired, with their views.
local limit, ids = number(), {}
for _, session in ipairs(redis.call("SMEMBERS", key("holders"))) do
    if #ids < limit and not is_alive(session) then
        local rest = limit - #ids
        for _, id in ipairs(redis.call("ZRANGE", key("running", session), 0, rest - 1)) do
            table.insert(ids, id)
        end
    end
end
return { now, candidates(ids, {}) }
