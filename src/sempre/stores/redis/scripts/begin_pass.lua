-- needs: base known
-- Begin the maintenance pass if it is due (see Pass.is_due): of two callers, one begins the pass.
local holder, due_at, farthest = argument(), later(number()), later(number())
local known = redis.call("HGET", key("pass"), "due_at")
if known and known > now and known <= farthest then
    return false
end
redis.call("HSET", key("pass"), "due_at", due_at, "holder", holder)
return redis.call("HMGET", key("pass"), "due_at", "holder", "finished_at", "report")
