-- needs: base known
-- Return the version of the schema, counts of rows, and the first and last ended execution.
local function member(place)
    return redis.call("ZRANGE", key("ended"), place, place)[1] or ""
end

local function count(name)
    return redis.call("ZCARD", key(name))
end

local version = redis.call("HGET", key("meta"), "version")
return { version, count("schedules"), count("history"), count("ranges"), member(0), member(-1) }
