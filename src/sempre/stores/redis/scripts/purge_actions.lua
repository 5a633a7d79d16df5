-- needs: base known
-- Delete the oldest actions before an instant; return how many.
local before, limit = argument(), number()
local old = redis.call("ZRANGEBYLEX", key("action-times"), "-", "(" .. before, "LIMIT", 0, limit)
for _, member in ipairs(old) do
    local id = id_in(member)
    local text = redis.call("HGET", key("actions"), id)
    local width, rest = string.match(string.sub(text, WIDTH + 1), "^(%d+) (.*)$")
    redis.call("ZREM", key("action-ids", string.sub(rest, 1, tonumber(width))), id)
    redis.call("ZREM", key("action-ids"), id)
    redis.call("ZREM", key("action-times"), member)
    redis.call("HDEL", key("actions"), id)
end
return #old
