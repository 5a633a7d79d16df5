-- needs: base known rows views
-- Return the schedules of these names, with the rows that planning needs.
local found = {}
for _, name in ipairs(list()) do
    local id = redis.call("HGET", key("names"), name)
    if id then
        table.insert(found, view(id))
    end
end
return { now, found }
