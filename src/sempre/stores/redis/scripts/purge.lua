-- needs: base known rows
-- Delete executions that ended before an instant, and keep their counts; return how many. Delete
-- old ranges, orphans and sessions too, each up to the limit.
local PURGED = { "state", "schedule_id", "kind", "run_at", "started_at", "finished_at", "unique" }
local before, limit = argument(), number()

-- Whether the slot of a row is in the future: its row stays, so that the slot stays decided.
local function is_to_come(row)
    if row.run_at > now then
        return true
    end
    if row.schedule_id == "" or row.kind ~= "scheduled" or row.state == "superseded" then
        return false
    end
    local cursor = redis.call("HGET", key("schedule", row.schedule_id), "cursor")
    return cursor and row.run_at > cursor
end

local function roll_up(row)
    local day = math.floor(seconds_of(row.run_at) / 86400)
    local name, field = key("rollups", row.schedule_id), day .. " " .. row.state
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

local after, count = "-", 0
while count < limit do
    local page = redis.call("ZRANGEBYLEX", key("ended"), after, "(" .. before, "LIMIT", 0, limit)
    for _, member in ipairs(page) do
        local row = look(id_in(member), PURGED)
        if count < limit and not is_to_come(row) then
            purge(row)
            count = count + 1
        end
    end
    if #page < limit then
        break
    end
    after = "(" .. page[#page]
end

local function old_in(name)
    return redis.call("ZRANGEBYLEX", key(name), "-", "(" .. before, "LIMIT", 0, limit)
end

for _, member in ipairs(old_in("ranges")) do
    local place, schedule_id = string.sub(member, 35, 68), string.sub(member, 69)
    local name = key("ranges", schedule_id)
    redis.call("ZREMRANGEBYLEX", name, "[" .. place, "[" .. place .. PAST_ALL)
    redis.call("ZREM", key("ranges"), member)
end

for _, member in ipairs(old_in("orphans")) do
    local field, id = string.match(id_in(member), "^(%S+) (.*)$")
    redis.call("HDEL", key("attempts", id), field)
    redis.call("ZREM", key("orphans"), member)
end

-- Sessions whose lease expired, such as sessions of crashed workers, earliest expiry first.
local leases, lost = redis.call("HGETALL", key("leases")), {}
for place = 1, #leases, 2 do
    local lease = leases[place + 1]
    if lease < before and lease < now then
        table.insert(lost, lease .. leases[place])
    end
end
table.sort(lost, precedes)
for place = 1, math.min(#lost, limit) do
    redis.call("HDEL", key("sessions"), id_in(lost[place]))
    redis.call("HDEL", key("leases"), id_in(lost[place]))
    redis.call("SREM", key("draining"), id_in(lost[place]))
end
return count
