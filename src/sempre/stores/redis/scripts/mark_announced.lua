-- needs: base known rows
-- Turn pending rows to scheduled; return how many.
local count = 0
for _, id in ipairs(list()) do
    local row = look(id, { "state" })
    if row and row.state == "pending" then
        put(id, { state = "scheduled" })
        count = count + 1
    end
end
return count
