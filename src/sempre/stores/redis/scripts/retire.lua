-- needs: base known
-- End a session.
local id = argument()
redis.call("HDEL", key("sessions"), id)
redis.call("HDEL", key("leases"), id)
redis.call("SREM", key("draining"), id)
return 1
