-- needs: base rows plans
-- Carry out plans, each wholly or not at all.
local function has_start(order)
    for _, change in ipairs(order.changes) do
        if change.after.state == "running" then
            return true
        end
    end
    return false
end

local answers = {}
for place = 1, number() do
    local order = read_order()
    local done = is_done(order)
    if not done and not has_start(order) and fits(order) then
        carry_out(order)
        done = true
    end
    answers[place] = done and 1 or 0
end
audit()
return answers
