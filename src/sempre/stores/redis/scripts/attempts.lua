-- needs: base known
-- Return every attempt of an execution.
return { now, redis.call("HGETALL", key("attempts", argument())) }
