-- needs: base known
-- Return the latest ranges of slots of a schedule that passed without a row.
local id, limit = argument(), number()
return { now, redis.call("ZREVRANGEBYLEX", key("ranges", id), "+", "-", "LIMIT", 0, limit) }
