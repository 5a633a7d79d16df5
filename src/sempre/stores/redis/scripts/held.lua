-- needs: base known rows
-- Return executions that switches or limits hold back, up to the limit.
local FIELDS = { "due_at", "queue", "priority", "attempt", "state" }
local limit, found = number(), {}

-- Add executions of an index; the id of an execution follows a prefix of its member.
local function add(name, width)
    if #found >= limit then
        return
    end
    for _, member in ipairs(redis.call("ZRANGE", name, 0, limit - #found - 1)) do
        local row = look(string.sub(member, width + 1), FIELDS)
        if row and is_live(row) then
            local place = { row.due_at, row.queue, row.priority, row.attempt, row.state }
            table.insert(found, { row.id, unpack(place) })
        end
    end
end

for _, name in ipairs(redis.call("ZRANGE", key("switches"), 0, -1)) do
    add(key("held", name), 0)
end
for _, holder in ipairs(redis.call("ZRANGE", key("parked-keys"), 0, limit - 1)) do
    add(key("parked", holder), RANK_WIDTH)
end
return { now, found }
