-- needs: base known rows switches unique plans limits
-- Carry out plans that start one execution each, for a session. Park executions whose limit is
-- full, and up to `most` others that wait for a full limit.
local CURRENT = {
    "state", "attempt", "session", "due_at", "priority", "run_at", unpack(STOPPED_BY),
}
local session, most = argument(), number()
local switches, alive = switches_off(), is_alive(session)
local answers, parked, crowds = {}, {}, {}

-- Start an execution by an order that fits, unless a limit keeps it from starting.
local function start(row, change, order)
    local limits = limits_of(row.id)
    local limit, is_full = limit_before(row, limits, order)
    if limit then
        parked[row.id] = limit
        if is_full then
            table.insert(crowds, { limits[1].key, limit })
        end
        return false
    end
    change.after.session = session
    change.after.fence = next_fence()
    carry_out(order)
    note_losses(order)
    note_start(limits, change.after.fence)
    return true
end

for place = 1, number() do
    local starts, due_at, order = number(), argument(), read_order()
    local change = order.changes[starts]
    local row = look(change.id, CURRENT)
    local started = row
        and row.state == "running"
        and row.session == session
        and row.attempt == change.after.attempt
    if row and not started and alive and row.due_at <= now and due_at <= now then
        if not stopping(switches, row) and fits(order) then
            started = start(row, change, order)
        end
    end
    answers[place] = started and answer(change.id) or false
end
for id, limit in pairs(parked) do
    park(id, limit)
end
for _, crowd in ipairs(crowds) do
    park_crowd(crowd[1], crowd[2], most)
end
audit()
return answers
