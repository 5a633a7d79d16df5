-- needs: base rows switches lanes unique plans
-- Start one-off work that is due.
local session, wanted = argument(), wanted_work()
local has_ids, ids, switches, taken = argument() == "1", list(), switches_off(), {}
if is_alive(session) then
    for place, id in ipairs(due_singles(wanted, switches, has_ids and ids)) do
        local row = look(id, { "attempt", "first_started_at" })
        put(id, {
            state = "running",
            attempt = whole(row.attempt + 1),
            reason = "",
            first_started_at = row.first_started_at ~= "" and row.first_started_at or now,
            started_at = now,
            session = session,
            fence = next_fence(),
        })
        taken[place] = answer(id)
    end
end
return { now, taken }
