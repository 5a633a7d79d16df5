-- needs: base known rows
-- Store progress reports of executions that the session still holds.
local session = argument()
local alive = is_alive(session)
for _ = 1, number() do
    local id, fence, text = argument(), argument(), argument()
    local row = look(id, { "state", "session", "fence" })
    local held = row and row.state == "running" and row.session == session and row.fence == fence
    if alive and held then
        redis.call("HSET", key("reports"), id, now .. fence .. " " .. text)
    end
end
return 0
