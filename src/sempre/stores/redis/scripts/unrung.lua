-- needs: base rows
-- Pending rows that are due within the horizon, earliest first.
local horizon, limit, found = later(number()), number(), {}
local last = "(" .. horizon .. PAST_ALL
local members = redis.call("ZRANGEBYLEX", key("unrung"), "-", last, "LIMIT", 0, limit)
for place, member in ipairs(members) do
    found[place] = answer(id_in(member))
end
return { now, found }
