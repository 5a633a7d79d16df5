-- needs: base
-- Set the store up, raise the version of an older schema, or give a copy its own identity.
-- Continue fences above the given one. Return the schema's version and the store's identity.
local version, identity, as_copy, fence = argument(), argument(), argument() == "1", number()
local meta = key("meta")
if redis.call("EXISTS", meta) == 0 then
    redis.call("HSET", meta, "version", version, "uuid", identity, "fence", 0, "ranges", 0)
else
    if tonumber(redis.call("HGET", meta, "version")) < tonumber(version) then
        redis.call("HSET", meta, "version", version)
    end
    if as_copy and redis.call("HGET", meta, "version") == version then
        redis.call("HSET", meta, "uuid", identity)
    end
end
if tonumber(redis.call("HGET", meta, "fence")) < fence then
    redis.call("HSET", meta, "fence", whole(fence))
end
return redis.call("HMGET", meta, "version", "uuid")
