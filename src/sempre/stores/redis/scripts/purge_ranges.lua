-- needs: base known
-- Delete the oldest ranges whose last slot lies before an instant; return how many.
local before, limit = argument(), number()
local old = redis.call("ZRANGEBYLEX", key("ranges"), "-", "(" .. before, "LIMIT", 0, limit)
for _, member in ipairs(old) do
    local of_schedule, schedule_id = string.sub(member, 35, 68), string.sub(member, 69)
    local name = key("ranges", schedule_id)
    redis.call("ZREMRANGEBYLEX", name, "[" .. of_schedule, "[" .. of_schedule .. PAST_ALL)
    redis.call("ZREM", key("ranges"), member)
end
return #old
