-- needs: base known rows switches unique plans actions
-- Carry out plans, each wholly or not at all. Plans of a schedule that another token locks wait.
local function has_start(order)
    for _, change in ipairs(order.changes) do
        if change.after.state == "running" then
            return true
        end
    end
    return false
end

-- Whether an order takes an execution from a session that has its lease.
local function takes_from_living(order)
    for _, change in ipairs(order.changes) do
        local row = change.rescues and look(change.id, { "session" })
        if row and is_alive(row.session) then
            return true
        end
    end
    return false
end

local function is_locked(order, token)
    local holder = order.base ~= "" and redis.call("GET", key("lock", order.base))
    return holder and holder ~= token
end

-- Whether the cursor is no longer in the future: only a cursor in the future moves back.
local function is_overtaken(order)
    return order.retracts_after ~= "" and order.cursor <= now
end

local token, switches, answers = argument(), nil, {}
for place = 1, number() do
    local order, action = read_order(), read_action()
    local done = is_done(order)
    switches = switches or (order.decides ~= "" and switches_off())
    local stands = not has_start(order) and decision_stands(switches or {}, order)
    stands = stands and not is_overtaken(order) and not is_key_taken(order)
    local waits = not done and is_locked(order, token)
    if not done and not waits and stands and not takes_from_living(order) and fits(order) then
        carry_out(order)
        note_losses(order)
        record_action(action)
        done = true
    end
    answers[place] = done and 1 or waits and 2 or 0
end
audit()
return answers
