-- needs: base known rows
-- Release the locks of a token.
local token = argument()
for _, id in ipairs(list()) do
    local row = look(id, { "schedule_id" })
    local name = row and key("lock", row.schedule_id)
    if name and redis.call("GET", name) == token then
        redis.call("DEL", name)
    end
end
return true
