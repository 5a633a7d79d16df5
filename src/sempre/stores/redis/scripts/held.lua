-- needs: base known rows
-- Return executions that switches hold back, up to the limit.
local limit, found = number(), {}
for _, name in ipairs(redis.call("ZRANGE", key("switches"), 0, -1)) do
    for _, id in ipairs(redis.call("ZRANGE", key("held", name), 0, limit - #found - 1)) do
        local row = look(id, { "due_at", "queue", "priority", "attempt", "state" })
        if row and is_live(row) then
            table.insert(found, { id, row.due_at, row.queue, row.priority, row.attempt, row.state })
        end
    end
    if #found >= limit then
        break
    end
end
return { now, found }
