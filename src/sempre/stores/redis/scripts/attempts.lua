-- needs: base known
-- Every try at an execution.
return { now, redis.call("HGETALL", key("attempts", argument())) }
