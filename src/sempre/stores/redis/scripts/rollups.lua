-- needs: base known
-- Return the counts and run times of a schedule's purged executions.
return { now, redis.call("HGETALL", key("rollups", argument())) }
