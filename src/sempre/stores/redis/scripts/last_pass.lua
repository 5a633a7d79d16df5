-- needs: base known
-- When the next pass is due and what the last one reported.
return { now, redis.call("HMGET", key("pass"), "due_at", "holder", "finished_at", "report") }
