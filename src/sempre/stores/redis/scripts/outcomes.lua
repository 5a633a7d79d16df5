-- needs: base known rows outcomes
-- Return the last outcomes of each of these schedules, up to the limit for each schedule.
local ids, limit, found = list(), number(), {}
for place, id in ipairs(ids) do
    local rows = {}
    for at, each in ipairs(outcomes(id, limit)) do
        rows[at] = answer(each)
    end
    found[place] = rows
end
return { now, found }
