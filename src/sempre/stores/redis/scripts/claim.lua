-- needs: base known rows switches unique plans
-- Carry out plans that start one execution each, for a session.
local CURRENT = { "state", "attempt", "session", "due_at", unpack(STOPPED_BY) }
local session = argument()
local switches, alive = switches_off(), is_alive(session)
local answers = {}
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
            change.after.session = session
            change.after.fence = next_fence()
            carry_out(order)
            note_losses(order)
            started = true
        end
    end
    answers[place] = started and answer(change.id) or false
end
audit()
return answers
