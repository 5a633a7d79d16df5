-- needs: base known rows
-- Return executions that failed since an instant: the last ones of each job, up to the limit.
local since, limit, found = argument(), number(), {}
local first = "-"
while true do
    local member = redis.call("ZRANGEBYLEX", key("failed"), first, "+", "LIMIT", 0, 1)[1]
    if not member then
        break
    end
    local job = string.match(member, "^([^\n]*)\n")
    local newest, oldest = "(" .. job .. "\n" .. PAST_ALL, "[" .. job .. "\n" .. since
    local page = redis.call("ZREVRANGEBYLEX", key("failed"), newest, oldest, "LIMIT", 0, limit)
    for _, each in ipairs(page) do
        table.insert(found, answer(string.sub(each, #job + 2 + WIDTH)))
    end
    first = newest
end
return { now, found }
