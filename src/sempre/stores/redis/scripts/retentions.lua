-- needs: base known
-- Return the retentions that schedules have of their own, each once, shortest first.
local found, after = {}, "-"
while true do
    local member = redis.call("ZRANGEBYLEX", key("retained"), after, "+", "LIMIT", 0, 1)[1]
    if not member then
        return found
    end
    local retention = string.sub(member, 1, WIDTH)
    table.insert(found, retention)
    after = "(" .. retention .. PAST_ALL
end
