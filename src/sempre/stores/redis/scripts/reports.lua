-- needs: base known
-- Return the last progress report of each of these executions that has a report.
local found = {}
for _, id in ipairs(list()) do
    local text = redis.call("HGET", key("reports"), id)
    if text then
        table.insert(found, { id, text })
    end
end
return { now, found }
