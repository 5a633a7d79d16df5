-- needs: base known
-- A part of the log of actions, newest first: ids and texts, of one target or of all.
local target, last, limit = argument(), argument(), number()
local name = target == "" and key("action-ids") or key("action-ids", target)
local found = {}
for place, id in ipairs(redis.call("ZREVRANGEBYLEX", name, last, "-", "LIMIT", 0, limit)) do
    found[place] = { id, redis.call("HGET", key("actions"), id) }
end
return { now, found }
