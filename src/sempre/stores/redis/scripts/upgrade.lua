-- needs: base
-- Set the store up unless it is set up already, or give a copy of a store its own identity.
-- Continue fences above the given one. Return the schema's version and the store's identity.
local version, identity, as_copy, fence = argument(), argument(), argument() == "1", number()
local meta = key("meta")
if redis.call("EXISTS", meta) == 0 then
    redis.call("HSET", meta, "version", version, "uuid", identity, "fence", 0, "ranges", 0)
elseif as_copy and redis.call("HGET", meta, "version") == version then
    redis.call("HSET", meta, "uuid", identity)
end
if tonumber(redis.call("HGET", meta, "fence")) < fence then
    redis.call("HSET", meta, "fence", whole(fence))
end
return redis.call("HMGET", meta, "version", "uuid")
