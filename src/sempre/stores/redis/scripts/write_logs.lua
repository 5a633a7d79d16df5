-- needs: base known rows
-- Store the logs of runs of a session, while their executions exist. RunLog.is_from has the rule.
local session = argument()
for _ = 1, number() do
    local id, fence, text = argument(), argument(), argument()
    local row = look(id, { "state", "fence", "session" })
    if row then
        local is_holder = row.session == session or row.session == ""
        local given = tonumber(row.fence) or 0
        if tonumber(fence) < given or (tonumber(fence) == given and is_holder) then
            redis.call("HSET", key("logs", id), fence, now .. text)
        end
    end
end
return 0
