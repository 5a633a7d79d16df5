-- needs: base known
-- Return the number of executions, the last end, the last fence, and how many executions run.
local running = 0
for _, session in ipairs(redis.call("SMEMBERS", key("holders"))) do
    running = running + redis.call("ZCARD", key("running", session))
end
local last = redis.call("ZRANGE", key("ended"), -1, -1)[1] or ""
local fence = redis.call("HGET", key("meta"), "fence") or ""
return { now, { redis.call("ZCARD", key("history")), last, fence, running } }
