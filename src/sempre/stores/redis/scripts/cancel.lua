-- needs: base known rows actions
-- End live executions, and ask the workers of running ones to cancel them.
local WANTED = { "state", "fence", "kind", "schedule_id", "run_at", "first_started_at",
    "retried_at" }

local function is_next_row(row)
    if row.schedule_id == "" or row.kind ~= "scheduled" or not is_untried(row) then
        return false
    end
    local cursor = redis.call("HGET", key("schedule", row.schedule_id), "cursor")
    return cursor and row.run_at > cursor
end

local actor, answers = argument(), {}
local ids, actions = list(), {}
for place = 1, number() do
    actions[place] = read_action()
end
for place, id in ipairs(ids) do
    local row = look(id, WANTED)
    answers[place] = "over"
    if row and row.state == "running" then
        -- The fence names the attempt to cancel.
        redis.call("HSET", key("cancellations"), id, row.fence)
        answers[place] = "asked"
    elseif row and is_live(row) and is_next_row(row) then
        answers[place] = "next row"
    elseif row and is_live(row) then
        put(id, {
            state = "cancelled", reason = "requested", actor = actor,
            finished_at = now, ended_at = now,
        })
        answers[place] = "ended"
    end
    if actions[place] and (answers[place] == "ended" or answers[place] == "asked") then
        record_action(actions[place])
    end
end
audit()
return answers
