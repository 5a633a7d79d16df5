-- needs: base
-- Set the store up, unless it is. Returns the version of the schema and the store's identity.
local version, identity = argument(), argument()
local meta = key("meta")
if redis.call("EXISTS", meta) == 0 then
    redis.call("HSET", meta, "version", version, "uuid", identity, "fence", 0, "ranges", 0)
end
return redis.call("HMGET", meta, "version", "uuid")
