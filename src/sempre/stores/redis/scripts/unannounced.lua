-- needs: base known rows
-- Return pending rows that are due within the horizon, earliest first.
local horizon, limit, found = later(number()), number(), {}
local TOLD = { "due_at", "queue", "priority", "attempt", "state" }
local last = "(" .. horizon .. PAST_ALL
local members = redis.call("ZRANGEBYLEX", key("unrung"), "-", last, "LIMIT", 0, limit)
for place, member in ipairs(members) do
    local id = id_in(member)
    local row = look(id, TOLD)
    found[place] = { id, row.due_at, row.queue, row.priority, row.attempt, row.state }
end
return { now, found }
