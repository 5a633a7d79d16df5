-- needs: base known rows
-- Lock the schedules of executions for some milliseconds: plans with other tokens have to wait.
local token, milliseconds = argument(), argument()
for _, id in ipairs(list()) do
    local row = look(id, { "schedule_id" })
    if row and row.schedule_id ~= "" then
        redis.call("SET", key("lock", row.schedule_id), token, "PX", milliseconds, "NX")
    end
end
return true
