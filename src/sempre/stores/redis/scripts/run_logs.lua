-- needs: base known
-- Return the log of every run of an execution.
return { now, redis.call("HGETALL", key("logs", argument())) }
