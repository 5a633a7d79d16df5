-- needs: base known rows
-- Return the running executions of a session.
local found = {}
for place, id in ipairs(redis.call("ZRANGE", key("running", argument()), 0, -1)) do
    found[place] = answer(id)
end
return { now, found }
