-- needs: base known rows views
-- Return schedules in order of id, with their rows.
local after, limit, found = argument(), number(), {}
local first = after == "" and "-" or "(" .. after
for place, id in ipairs(redis.call("ZRANGEBYLEX", key("schedules"), first, "+", "LIMIT", 0, limit)) do
    found[place] = view(id)
end
return { now, found }
