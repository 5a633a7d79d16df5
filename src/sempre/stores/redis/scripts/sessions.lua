-- needs: base known
-- Return every session that is not retired: its id, its description and its lease.
local found, all = {}, redis.call("HGETALL", key("sessions"))
for place = 1, #all, 2 do
    local lease = redis.call("HGET", key("leases"), all[place])
    table.insert(found, { all[place], all[place + 1], lease })
end
return { now, found }
