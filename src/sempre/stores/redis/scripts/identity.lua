-- needs: base
-- Return the version of the schema and the identity of the store.
return redis.call("HMGET", key("meta"), "version", "uuid")
