-- needs: base known
-- Return the latest ranges of slots of a schedule that passed without a row, with a first slot before
-- an instant, if one is given.
local id, limit, before = argument(), number(), argument()
local latest = before == "" and "+" or "(" .. before
return { now, redis.call("ZREVRANGEBYLEX", key("ranges", id), latest, "-", "LIMIT", 0, limit) }
