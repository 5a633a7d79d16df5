-- needs: base known rows
-- Search a limited number of executions, newest slot first, for ids that begin with a prefix. Return
-- these ids, and where the next search begins: an empty text at the end. A whole id is found by its
-- key.
local prefix, last, at_once = argument(), argument(), number()
local size, WHOLE = #prefix, 36
if size >= WHOLE then
    return { now, { exists(prefix) and { prefix } or {}, "" } }
end
local members = redis.call("ZREVRANGEBYLEX", key("history"), last, "-", "LIMIT", 0, at_once)
local found = {}
for _, member in ipairs(members) do
    local id = id_in(member)
    if string.sub(id, 1, size) == prefix then
        table.insert(found, id)
    end
end
return { now, { found, #members == at_once and members[#members] or "" } }
