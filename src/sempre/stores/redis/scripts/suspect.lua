-- needs: base known rows
-- Check the next schedules in order of id. Return how many were checked, the id of the last one,
-- and the names of suspect schedules.
local after, limit, ahead, names = argument(), number(), later(number()), {}
local first = after == "" and "-" or "(" .. after
local ids = redis.call("ZRANGEBYLEX", key("schedules"), first, "+", "LIMIT", 0, limit)
local ASKED = { "name", "audit", "broken", "cursor", "revision", "next_run_at" }
local NEXT = { "state", "kind", "first_started_at", "retried_at", "run_at", "revision" }

local function is_in_order(id, audit, broken, cursor, revision, next_run_at)
    if broken ~= "" or audit == "astray" or cursor > ahead then
        return false
    end
    local right, wrong = 0, 0
    for _, each in ipairs(redis.call("ZRANGE", key("active", id), 0, -1)) do
        local row = look(each, NEXT)
        local is_next = row and is_live(row) and row.kind == "scheduled"
            and is_untried(row) and row.run_at > cursor
        if is_next and row.run_at == next_run_at and row.revision == revision then
            right = right + 1
        elseif is_next then
            wrong = wrong + 1
        end
    end
    if audit == "by row" then
        return right == 1 and wrong == 0
    end
    return right + wrong == 0 and next_run_at == ""
end

for _, id in ipairs(ids) do
    local found = redis.call("HMGET", key("schedule", id), unpack(ASKED))
    if not is_in_order(id, unpack(found, 2)) then
        table.insert(names, found[1])
    end
end
return { now, { #ids, ids[#ids] or "", names } }
