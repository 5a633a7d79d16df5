-- needs: base rows views
-- Schedules whose next row is missing, or has an older stamp.
local stamp, limit, found = argument(), number(), {}
local last = "(" .. stamp .. " "
for place, member in ipairs(redis.call("ZRANGEBYLEX", key("audit"), "-", last, "LIMIT", 0, limit)) do
    found[place] = view(string.match(member, "^[^ ]* (.*)$"))
end
return { now, found }
