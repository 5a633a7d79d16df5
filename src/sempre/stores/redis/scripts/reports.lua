-- needs: base known
-- The last report of each of these executions that has any.
local found = {}
for _, id in ipairs(list()) do
    local text = redis.call("HGET", key("reports"), id)
    if text then
        table.insert(found, { id, text })
    end
end
return { now, found }
