-- needs: base rows plans
-- Carry out plans, each wholly or not at all.
local answers = {}
for place = 1, number() do
    local order = read_order()
    local done = is_done(order)
    if not done and fits(order) then
        carry_out(order)
        done = true
    end
    answers[place] = done and 1 or 0
end
audit()
return answers
