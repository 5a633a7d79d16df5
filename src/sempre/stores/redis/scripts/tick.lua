-- needs: base rows switches lanes
-- Renew a session that has not expired and tell it what it has to know.
local session, lease, wanted = argument(), later(number()), wanted_work()
local switches, alive = switches_off(), is_alive(session)
if alive then
    redis.call("HSET", key("leases"), session, lease)
end
local cancelled = {}
for _, id in ipairs(redis.call("HKEYS", key("cancellations"))) do
    local row = look(id, { "session" })
    if row and row.session == session then
        table.insert(cancelled, id)
    end
end
local pass_due_at = redis.call("HGET", key("pass"), "due_at") or now
return { now, { alive and 1 or 0, next_due_at(wanted), pass_due_at, cancelled, switches } }
