-- needs: base known
-- Begin a session, leased from now on.
local id, lease, text = argument(), later(number()), argument()
redis.call("HSET", key("sessions"), id, now .. text)
redis.call("HSET", key("leases"), id, lease)
redis.call("SREM", key("draining"), id)
return { now, { id, now .. text, lease, 0 } }
