-- needs: base known actions
-- Ask workers to finish their runs and to stop; return 1 for each session that exists.
local ids, actions, found = list(), {}, {}
for place = 1, number() do
    actions[place] = read_action()
end
for place, id in ipairs(ids) do
    found[place] = redis.call("HEXISTS", key("sessions"), id)
    if found[place] == 1 then
        redis.call("SADD", key("draining"), id)
        if actions[place] then
            record_action(actions[place])
        end
    end
end
return found
