-- needs: base known rows
-- Scan a limited number of executions, newest slot first. Return the executions that match the
-- query, and where the next scan begins: an empty text at the end.
local index, value, last, first = argument(), argument(), argument(), argument()
local states, kinds, job = set(), set(), argument()
local limit, at_once = number(), number()
local name = value == "" and key(index) or key(index, value)
local members = redis.call("ZREVRANGEBYLEX", name, last, first, "LIMIT", 0, at_once)
local found, after = {}, #members == at_once and members[#members] or ""
for _, member in ipairs(members) do
    local row = look(id_in(member), { "state", "kind", "job" })
    if states[row.state] and kinds[row.kind] and (job == "" or row.job == job) then
        table.insert(found, answer(row.id))
        if #found == limit then
            after = member
            break
        end
    end
end
return { now, { found, after } }
