-- needs: base known rows switches lanes
-- Renew a session that was not retired or purged; return what its worker has to know.
local session, lease, wanted = argument(), later(number()), wanted_work()
-- This call frees rows held by switches whose time is over.
switches_off()
local alive = redis.call("HEXISTS", key("leases"), session) == 1
if alive then
    redis.call("HSET", key("leases"), session, lease)
end
local cancelled, held = {}, {}
for place, id in ipairs(redis.call("ZRANGE", key("running", session), 0, -1)) do
    held[place] = look(id, { "fence" }).fence
    if redis.call("HGET", key("cancellations"), id) == held[place] then
        table.insert(cancelled, id)
    end
end
local pass_due_at = redis.call("HGET", key("pass"), "due_at") or now
local has_expired = 0
for _, holder in ipairs(redis.call("SMEMBERS", key("holders"))) do
    if not is_alive(holder) and not (alive and holder == session) then
        has_expired = 1
    end
end
local due_at = next_due_at(wanted, "")
local store = redis.call("HGET", key("meta"), "uuid")
local drain = redis.call("SISMEMBER", key("draining"), session)
local facts = { alive and 1 or 0, due_at, pass_due_at, cancelled, held, has_expired, store, drain }
return { now, facts }
