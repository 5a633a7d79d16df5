-- needs: base known rows unique plans
-- Record how attempts ended, each if its claim still holds.
local session, answers = argument(), {}
for place = 1, number() do
    local id, fence, holder, text = argument(), argument(), argument(), argument()
    local order = read_order()
    local row = look(id, { "state", "fence" })
    local holds = row and row.state == "running" and row.fence == fence and holder == session
    if redis.call("HEXISTS", key("attempts", id), fence .. ":settled") == 1 then
        answers[place] = "done"
    elseif not holds then
        note_attempt(id, fence, "late", "running", text)
        answers[place] = "late"
    elseif not fits(order) then
        answers[place] = "replan"
    else
        carry_out(order)
        redis.call("HDEL", key("cancellations"), id)
        note_attempt(id, fence, "settled", look(id, { "state" }).state, text)
        answers[place] = "done"
    end
end
audit()
return answers
