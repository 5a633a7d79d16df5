-- needs: base known rows
-- Return a page of waiting rows of some queues, or of all, that are due within a horizon, lane by
-- lane. The page begins after a place: a kind, a lane of the kind and a member of the lane, or
-- empty texts. Return the place where the page ended, if more rows may follow.
local anywhere, queues, horizon, limit = argument() == "1", set(), later(number()), number()
local kind_after, lane_after, after = argument(), argument(), argument()
local found, last = {}, "(" .. horizon .. PAST_ALL

local function add(queue, priority, name, first)
    local rest = limit - #found
    local members = redis.call("ZRANGEBYLEX", name, first, last, "LIMIT", 0, rest)
    for _, member in ipairs(members) do
        local id = id_in(member)
        local row = look(id, { "attempt", "state" })
        table.insert(found, {
            id, string.sub(member, 1, WIDTH), queue, priority, row.attempt, row.state,
        })
    end
    return members[#members]
end

for _, kind in ipairs({ "limited", "manual", "single", "slots" }) do
    local lanes = {}
    if not precedes(kind, kind_after) then
        lanes = redis.call("ZRANGE", key("lanes", kind), 0, -1)
        table.sort(lanes, precedes)
    end
    for _, lane in ipairs(lanes) do
        local priority, size, names = string.match(lane, "^(%d+):(%d+):(.*)$")
        local queue = string.sub(names, 1, tonumber(size))
        local is_past = kind == kind_after and precedes(lane, lane_after)
        if (anywhere or queues[queue]) and not is_past then
            local is_begun = kind == kind_after and lane == lane_after
            local first = is_begun and "(" .. after or "-"
            local member = add(queue, priority, key("lane", kind, lane), first)
            if #found >= limit then
                return { now, { found, { kind, lane, member } } }
            end
        end
    end
end
return { now, { found, {} } }
