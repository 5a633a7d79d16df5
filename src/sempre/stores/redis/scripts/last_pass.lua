-- needs: base known
-- Return when the next pass is due, and the report of the last pass.
return { now, redis.call("HMGET", key("pass"), "due_at", "holder", "finished_at", "report") }
