-- needs: base
-- The version of the schema and the store's identity.
return redis.call("HMGET", key("meta"), "version", "uuid")
