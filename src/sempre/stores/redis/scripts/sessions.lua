-- needs: base known
-- Return every session that is not retired: its id, its description, its lease, and whether it is
-- draining.
local found, all = {}, redis.call("HGETALL", key("sessions"))
for place = 1, #all, 2 do
    local lease = redis.call("HGET", key("leases"), all[place])
    local draining = redis.call("SISMEMBER", key("draining"), all[place])
    table.insert(found, { all[place], all[place + 1], lease, draining })
end
return { now, found }
