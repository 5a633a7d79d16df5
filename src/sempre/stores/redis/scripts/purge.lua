-- needs: base known rows
-- Examine ended executions from a place on, and delete those that are not kept; their counts stay.
-- Delete old orphans and sessions too, each up to the limit. Return how many executions are
-- not kept, the place up to which executions are examined, and whether there may be more.
local PURGED = { "state", "schedule_id", "kind", "run_at", "started_at", "finished_at", "ended_at", "unique" }
local FIRST, LAST = string.rep("0", WIDTH), string.rep("9", WIDTH)
local before, limit, after = argument(), number(), argument()
local retention, keep, count_only = argument(), argument(), argument() == "1"
local start = after == "" and FIRST or string.sub(after, 1, WIDTH)

-- A schedule by its id: its cursor, its own retention, and how many executions it keeps.
local schedules = {}
local function schedule_of(id)
    if not schedules[id] then
        local found = redis.call("HMGET", key("schedule", id), "cursor", "retention", "keep", "deleted")
        local number = keep ~= "" and keep or found[3] or "100"
        if not found[1] or found[4] == "1" then
            number = "0"
        end
        schedules[id] = { cursor = found[1], retention = found[2] or "", keep = tonumber(number) }
    end
    return schedules[id]
end

local function is_concerned(schedule_id)
    local own = schedule_id ~= "" and schedule_of(schedule_id).retention or ""
    return retention == "any" or retention == (own == "" and "setting" or own)
end

-- When the oldest execution finished that a schedule keeps whatever its age.
local floors = {}
local function floor_of(schedule_id)
    if schedule_id == "" then
        return LAST
    end
    if not floors[schedule_id] then
        local count = schedule_of(schedule_id).keep
        floors[schedule_id] = LAST
        if count > 0 then
            local place = whole(math.min(count - 1, 2 ^ 52))
            local member = redis.call("ZREVRANGE", key("finished", schedule_id), place, place)[1]
            floors[schedule_id] = member and string.sub(member, 1, WIDTH) or FIRST
        end
    end
    return floors[schedule_id]
end

-- Whether the slot of a row is in the future: its row stays, so that the slot stays decided.
local function is_to_come(row)
    if row.run_at > now then
        return true
    end
    if row.schedule_id == "" or row.kind ~= "scheduled" or row.state == "superseded" then
        return false
    end
    local cursor = schedule_of(row.schedule_id).cursor
    return cursor and row.run_at > cursor
end

local function is_old(row)
    if row.ended_at == "" or is_to_come(row) then
        return false
    end
    return row.finished_at == "" or row.finished_at < floor_of(row.schedule_id)
end

local function roll_up(row)
    local day = math.floor(seconds_of(row.run_at) / 86400)
    local name, field = key("rollups", row.schedule_id), day .. " " .. row.state .. " " .. row.kind
    redis.call("HINCRBY", name, field .. " count", 1)
    local took = 0
    if row.started_at ~= "" and row.finished_at ~= "" then
        took = microseconds_between(row.started_at, row.finished_at)
    end
    redis.call("HINCRBY", name, field .. " microseconds", whole(took))
end

local function purge(row)
    if row.schedule_id ~= "" then
        roll_up(row)
    end
    if row.unique ~= "" and redis.call("HGET", key("unique"), row.unique) == row.id then
        redis.call("HDEL", key("unique"), row.unique)
        redis.call("HDEL", key("streaks"), row.unique)
    end
    forget(row.id)
end

-- The first members of a sorted set in a range that a function accepts, up to the limit.
local function first_of(name, from, to, accepts)
    local found = {}
    while #found < limit do
        local page = redis.call("ZRANGEBYLEX", name, from, to, "LIMIT", 0, limit)
        for _, member in ipairs(page) do
            if #found < limit and accepts(member) then
                table.insert(found, member)
            end
        end
        if #page < limit then
            break
        end
        from = "(" .. page[#page]
    end
    return found
end

local first = after == "" and "-" or "(" .. after
local page = redis.call("ZRANGEBYLEX", key("ended"), first, "(" .. before, "LIMIT", 0, limit)
local more = #page == limit
local place = more and page[#page] or before
local old, examined = {}, {}
for _, member in ipairs(page) do
    local row = look(id_in(member), PURGED)
    if is_concerned(row.schedule_id) then
        if row.schedule_id ~= "" then
            examined[row.schedule_id] = true
        end
        if is_old(row) then
            table.insert(old, row)
        end
    end
end
if count_only then
    return { #old, place, more and 1 or 0 }
end

-- Executions that were kept when an earlier purge examined them, oldest first.
local pushed = {}
for schedule_id in pairs(examined) do
    local bound = floor_of(schedule_id)
    if start < bound then
        bound = start
    end
    local function goes(member)
        return is_old(look(id_in(member), PURGED))
    end
    for _, member in ipairs(first_of(key("finished", schedule_id), "-", "(" .. bound, goes)) do
        table.insert(pushed, member)
    end
end
table.sort(pushed, precedes)
for number = 1, math.min(#pushed, limit) do
    purge(look(id_in(pushed[number]), PURGED))
end
if #pushed >= limit then
    -- The page waits: its executions lead to those that were pushed out.
    return { limit, after, 1 }
end
for _, row in ipairs(old) do
    purge(row)
end

if retention == "setting" or retention == "any" then
    local orphans = redis.call("ZRANGEBYLEX", key("orphans"), "-", "(" .. before, "LIMIT", 0, limit)
    for _, member in ipairs(orphans) do
        local field, id = string.match(id_in(member), "^(%S+) (.*)$")
        redis.call("HDEL", key("attempts", id), field)
        redis.call("ZREM", key("orphans"), member)
    end
    -- Sessions whose lease expired, such as sessions of crashed workers, earliest expiry first.
    local leases, lost = redis.call("HGETALL", key("leases")), {}
    for number = 1, #leases, 2 do
        local lease = leases[number + 1]
        if lease < before and lease < now then
            table.insert(lost, lease .. leases[number])
        end
    end
    table.sort(lost, precedes)
    for number = 1, math.min(#lost, limit) do
        redis.call("HDEL", key("sessions"), id_in(lost[number]))
        redis.call("HDEL", key("leases"), id_in(lost[number]))
        redis.call("SREM", key("draining"), id_in(lost[number]))
    end
end

return { #pushed + #old, place, more and 1 or 0 }
