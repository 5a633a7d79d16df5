-- Waiting rows, and which of them are due. The cost grows with the number of lanes and with the
-- limit, not with the backlog.

local function wanted_work()
    local wanted = { queues = set(), jobs = set(), limit = number() }
    local overdue = argument()
    wanted.by_age = overdue ~= ""
    wanted.overdue = tonumber(overdue) or 0
    wanted.latest = wanted.by_age and later(-wanted.overdue) or now
    return wanted
end

-- Whether a switch stops every row of a lane, so that the rows need not be read.
local function is_stopped(switches, queue, job)
    for _, switch in ipairs(switches) do
        local target = switch[2]
        if target == "all" or target == "queue:" .. queue or target == "job:" .. job then
            return true
        end
    end
    return false
end

-- Add the lanes of a kind that have wanted rows, with the switches that may stop these rows.
local function add_lanes(found, kind, wanted, switches)
    for _, lane in ipairs(redis.call("ZRANGE", key("lanes", kind), 0, -1)) do
        local priority, size, names = string.match(lane, "^(%d+):(%d+):(.*)$")
        local queue = string.sub(names, 1, tonumber(size))
        local job = string.sub(names, tonumber(size) + 1)
        local is_wanted = wanted.queues[queue] and wanted.jobs[job]
        if is_wanted and not is_stopped(switches, queue, job) then
            table.insert(found, {
                priority = tonumber(priority), key = key("lane", kind, lane), switches = switches,
            })
        end
    end
end

local function by_priority(one, other)
    return one.priority < other.priority
end

-- Add the first rows of a lane, due by an instant, that no switch stops, up to the limit.
local function add_due(into, lane, latest, limit)
    local after, count, switches = "-", 0, lane.switches
    while count < limit do
        local last = "(" .. latest .. PAST_ALL
        local page = redis.call("ZRANGEBYLEX", lane.key, after, last, "LIMIT", 0, limit)
        for _, member in ipairs(page) do
            local stopped = #switches > 0
                and stopping(switches, look(id_in(member), STOPPED_BY))
            if not stopped and count < limit then
                table.insert(into, member)
                count = count + 1
            end
        end
        if #page < limit then
            return
        end
        after = "(" .. page[#page]
    end
end

-- The ids of due rows in lanes, by priority, or by age alone; then by due_at and id.
local function due(lanes, wanted)
    local found, group = {}, {}
    table.sort(lanes, by_priority)
    for place, lane in ipairs(lanes) do
        add_due(group, lane, wanted.latest, wanted.limit - #found)
        local following = lanes[place + 1]
        local is_over = not wanted.by_age and following and following.priority ~= lane.priority
        if is_over or not following then
            table.sort(group, precedes)
            for _, member in ipairs(group) do
                if #found < wanted.limit then
                    table.insert(found, id_in(member))
                end
            end
            group = {}
        end
    end
    return found
end

local WANTED_BY = {
    "state", "due_at", "held_by", "priority", "limit_key", "rate_key", unpack(STOPPED_BY),
}

-- Whether an execution is one-off work that is due, wanted and not stopped.
local function is_due_single(row, wanted, switches)
    return row and is_live(row) and kind_of(row) == "single" and row.held_by == ""
        and row.due_at <= wanted.latest and wanted.queues[row.queue] and wanted.jobs[row.job]
        and not stopping(switches, row)
end

-- The ids, among the given ones, of one-off work that is due, in the order of `due`.
local function due_among(ids, wanted, switches)
    local ranked, id_of, found = {}, {}, {}
    for _, id in ipairs(ids) do
        local row = look(id, WANTED_BY)
        if is_due_single(row, wanted, switches) then
            local rank = wanted.by_age and 0 or tonumber(row.priority)
            local member = string.format("%012d", rank) .. row.due_at .. id
            if not id_of[member] then
                table.insert(ranked, member)
                id_of[member] = id
            end
        end
    end
    table.sort(ranked, precedes)
    for place = 1, math.min(#ranked, wanted.limit) do
        table.insert(found, id_of[ranked[place]])
    end
    return found
end

-- The ids of one-off work that is due, among all executions or the given ones.
local function due_singles(wanted, switches, ids)
    if ids then
        return due_among(ids, wanted, switches)
    end
    local lanes = {}
    add_lanes(lanes, "single", wanted, switches)
    return due(lanes, wanted)
end

-- Add the lanes of rows that planned claims start. A plan holds work with a limit that a switch
-- stops.
local function add_planned(found, wanted, switches)
    add_lanes(found, "slots", wanted, of_mode(switches, "hold"))
    add_lanes(found, "manual", wanted, {})
    add_lanes(found, "limited", wanted, {})
end

-- When the next wanted row is due after an instant, stopped or not; an empty text if there is none.
local function next_due_at(wanted, since)
    local first, lanes = "", {}
    for _, kind in ipairs({ "slots", "manual", "single", "limited" }) do
        add_lanes(lanes, kind, wanted, {})
    end
    for _, lane in ipairs(lanes) do
        local after = since == "" and "-" or "(" .. since .. PAST_ALL
        local member = redis.call("ZRANGEBYLEX", lane.key, after, "+", "LIMIT", 0, 1)[1]
        local due_at = member and string.sub(member, 1, WIDTH)
        if due_at and (first == "" or due_at < first) then
            first = due_at
        end
    end
    return first
end
