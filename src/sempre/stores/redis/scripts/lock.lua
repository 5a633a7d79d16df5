-- needs: base known rows
-- Let nobody else apply a plan to the schedules of executions, for some milliseconds.
local token, milliseconds = argument(), argument()
for _, id in ipairs(list()) do
    local row = look(id, { "schedule_id" })
    if row and row.schedule_id ~= "" then
        redis.call("SET", key("lock", row.schedule_id), token, "PX", milliseconds, "NX")
    end
end
return true
