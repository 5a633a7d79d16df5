-- needs: base known rows limits
-- Free parked executions of some limits, or of the next limits after a key, and return them, when
-- rates open for those that still wait, and the last key if more may follow.
local everything, after, most, extra = argument() == "1", argument(), number(), number()
local keys, freed, opens, last = list(), {}, {}, ""
if everything then
    local first = after == "" and "-" or "(" .. PARKED .. after
    keys = redis.call("ZRANGEBYLEX", key("parked-keys"), first, "+", "LIMIT", 0, most)
    for place, holder in ipairs(keys) do
        keys[place] = string.sub(holder, #PARKED + 1)
    end
    last = #keys == most and keys[#keys] or ""
end
for _, each in ipairs(keys) do
    open(each, most, extra, freed, opens)
end
local TOLD = { "due_at", "queue", "priority", "attempt", "state" }
local rows, instants = {}, {}
for place, id in ipairs(freed) do
    local row = look(id, TOLD)
    rows[place] = { id, row.due_at, row.queue, row.priority, row.attempt, row.state }
end
for each, at in pairs(opens) do
    table.insert(instants, each)
    table.insert(instants, at)
end
audit()
return { now, { rows, instants, last } }
