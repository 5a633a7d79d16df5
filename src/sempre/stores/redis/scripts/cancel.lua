-- needs: base rows
-- End live executions, and ask the holders of running ones to end them.
local actor, answers = argument(), {}
for place, id in ipairs(list()) do
    local row = look(id, { "state", "fence" })
    answers[place] = 1
    if row and is_live(row) then
        put(id, {
            state = "cancelled", reason = "requested", actor = actor,
            finished_at = now, ended_at = now,
        })
    elseif row and row.state == "running" then
        -- The attempt that is meant, by its fence.
        redis.call("HSET", key("cancellations"), id, row.fence)
    else
        answers[place] = 0
    end
end
audit()
return answers
