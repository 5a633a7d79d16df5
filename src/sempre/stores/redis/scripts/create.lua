-- needs: base known rows actions
-- Create schedules with their first rows, each as a whole.
local answers = {}
for place = 1, number() do
    local id, schedule, rows = argument(), fields(), {}
    for each = 1, number() do
        rows[each] = { id = argument(), row = fields() }
    end
    local action = read_action()
    local known = redis.call("EXISTS", key("schedule", id)) == 1
    local free = redis.call("HEXISTS", key("names"), schedule.name) == 0
    if free and not known then
        put_schedule(id, schedule)
        for _, each in ipairs(rows) do
            put(each.id, each.row)
        end
        record_action(action)
    end
    answers[place] = (known or free) and 1 or 0
end
audit()
return answers
