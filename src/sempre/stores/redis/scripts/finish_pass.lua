-- needs: base known
-- Record what a pass did, if this holder was the last to begin one.
local holder, report = argument(), argument()
if redis.call("HGET", key("pass"), "holder") == holder then
    redis.call("HSET", key("pass"), "finished_at", now, "report", report)
end
return 1
