-- needs: base known
-- What is left of a schedule's purged executions.
return { now, redis.call("HGETALL", key("rollups", argument())) }
