-- needs: base known rows
-- Scan a limited number of schedules by name. Return the schedules that match the query, and where
-- the next scan begins: an empty text at the end.
local after, has_job, job = argument(), argument() == "1", argument()
local has_tag, tag, text = argument() == "1", argument(), argument()
local limit, at_once = number(), number()
local first = after == "" and "-" or "(" .. after
local names = redis.call("ZRANGEBYLEX", key("listed"), first, "+", "LIMIT", 0, at_once)
local found, last = {}, #names == at_once and names[#names] or ""
for _, name in ipairs(names) do
    local id = redis.call("HGET", key("names"), name)
    local values = redis.call("HMGET", key("schedule", id), "job", "tags", "folded_name")
    if
        (not has_job or values[1] == job)
        and (not has_tag or string.find(values[2], "\n" .. tag .. "\n", 1, true))
        and string.find(values[3], text, 1, true)
    then
        local schedule = redis.call("HMGET", key("schedule", id), unpack(SCHEDULE))
        table.insert(schedule, 1, id)
        table.insert(found, schedule)
        if #found == limit then
            last = name
            break
        end
    end
end
return { now, { found, last } }
