-- needs: base known
-- Record what a pass did, if this holder was the last to begin one; `soon` sets the next due_at.
local holder, report, soon = argument(), argument(), argument()
if redis.call("HGET", key("pass"), "holder") == holder then
    redis.call("HSET", key("pass"), "finished_at", now, "report", report)
    if soon ~= "" then
        redis.call("HSET", key("pass"), "due_at", later(tonumber(soon)))
    end
end
return 1
