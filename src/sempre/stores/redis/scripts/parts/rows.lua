-- Stored executions and schedules. Only `put` and `put_schedule` write them, and both update every
-- index.

-- The lists of fields, and the places of fields in each list, come from the tables of columns.
local ROW, ROW_AT = --[[execution]]
local SCHEDULE, SCHEDULE_AT = --[[schedule]]
local INDEXED = {
    "state", "schedule_id", "kind", "run_at", "due_at", "job", "queue", "priority", "held_by",
    "session", "finished_at", "ended_at", "unique", "created_at", "limit_key", "rate_key",
}

local function exists(id)
    return redis.call("EXISTS", key("execution", id)) == 1
end

-- Some fields of an execution by name; nil if the execution does not exist.
local function look(id, names)
    local values = redis.call("HMGET", key("execution", id), unpack(names))
    if not values[1] then
        return nil
    end
    local row = { id = id }
    for place, name in ipairs(names) do
        -- A row of an older release lacks newer fields.
        row[name] = values[place] or ""
    end
    return row
end

-- The answer for an execution: its id, its fields, and the lease of the session that runs it.
local function answer(id)
    local values = redis.call("HMGET", key("execution", id), unpack(ROW))
    if not values[1] then
        return nil
    end
    local lease = ""
    if values[ROW_AT.state] == "running" then
        local session = values[ROW_AT.session]
        lease = redis.call("HGET", key("leases"), session) or values[ROW_AT.started_at]
    end
    table.insert(values, 1, id)
    table.insert(values, lease)
    return values
end

local function is_live(row)
    return row.state == "pending" or row.state == "scheduled"
end

-- The fields by which a waiting row waits for its first start: no operator has retried the row.
local function is_untried(row)
    return row.first_started_at == "" and row.retried_at == ""
end

-- A lane holds the waiting rows of one kind, priority, queue and job. The length of the queue's
-- name shows where the job's name begins.
local function kind_of(row)
    if row.schedule_id == "" then
        -- Work with a limit has its own lanes, since only planned claims start it.
        return row.limit_key .. row.rate_key == "" and "single" or "limited"
    end
    -- Manual rows have their own lanes, since no switch stops them.
    return row.kind == "manual" and "manual" or "slots"
end

local function lane_of(row)
    return row.priority .. ":" .. #row.queue .. ":" .. row.queue .. row.job
end

-- The order in which executions that wait for one limit go on, as a text.
local RANK_WIDTH = 10 + WIDTH

local function rank_of(row)
    return string.format("%010d", row.priority) .. row.run_at .. row.id
end

local PARKED = "limit:"

local function waits_for_limit(row)
    return string.sub(row.held_by, 1, #PARKED) == PARKED
end

-- Add the members of indexes that stand for a row with limits.
local function add_limits(found, row)
    local first_key = row.limit_key ~= "" and row.limit_key or row.rate_key
    if row.state == "running" and row.limit_key ~= "" then
        found[key("limit-runs", row.limit_key)] = row.id
    elseif is_live(row) and row.held_by == "" then
        found[key("limit-waits", first_key)] = row.due_at .. row.id
    elseif is_live(row) and waits_for_limit(row) then
        found[key("parked", row.held_by)] = rank_of(row)
    end
end

-- The members of indexes that stand for a row, by the key of the index.
local function memberships(row)
    local found = {}
    local live, running = is_live(row), row.state == "running"
    found[key("history")] = row.run_at .. row.id
    found[key("history-of-job", row.job)] = row.run_at .. row.id
    if live and row.held_by == "" then
        found[key("lane", kind_of(row), lane_of(row))] = row.due_at .. row.id
        if row.state == "pending" then
            found[key("unrung")] = row.due_at .. row.id
        end
    end
    if row.held_by ~= "" then
        found[key("held", row.held_by)] = row.id
    end
    if running then
        found[key("running", row.session)] = row.id
    end
    if row.unique ~= "" and (live or running) then
        found[key("keyed", row.unique)] = row.created_at .. row.id
    end
    if row.ended_at ~= "" then
        found[key("ended")] = row.ended_at .. row.id
    end
    if row.state == "failed" then
        -- A name of a job has no line break.
        found[key("failed")] = row.job .. "\n" .. row.ended_at .. row.id
    end
    if row.limit_key .. row.rate_key ~= "" then
        add_limits(found, row)
    end
    if row.schedule_id == "" then
        return found
    end
    found[key("history-of-schedule", row.schedule_id)] = row.run_at .. row.id
    if live or running then
        found[key("active", row.schedule_id)] = row.id
    end
    if row.finished_at ~= "" then
        found[key("finished", row.schedule_id)] = row.finished_at .. row.id
    end
    if row.kind == "scheduled" and row.state ~= "superseded" then
        found[key("slots", "scheduled", row.schedule_id)] = row.run_at .. row.id
    elseif row.kind == "backfill" and (live or running) then
        found[key("slots", "backfill", row.schedule_id)] = row.run_at .. row.id
    end
    return found
end

-- Remove lanes, holders and limits without rows from their lists, and add those that have rows.
local function list_places(row)
    if waits_for_limit(row) then
        if redis.call("EXISTS", key("parked", row.held_by)) == 1 then
            redis.call("ZADD", key("parked-keys"), 0, row.held_by)
        else
            redis.call("ZREM", key("parked-keys"), row.held_by)
        end
    end
    local lane = lane_of(row)
    if redis.call("EXISTS", key("lane", kind_of(row), lane)) == 1 then
        redis.call("ZADD", key("lanes", kind_of(row)), row.priority, lane)
    else
        redis.call("ZREM", key("lanes", kind_of(row)), lane)
    end
    if redis.call("EXISTS", key("running", row.session)) == 1 then
        redis.call("SADD", key("holders"), row.session)
    else
        redis.call("SREM", key("holders"), row.session)
    end
end

local function move(row, before, after)
    local moved = false
    for name, member in pairs(before) do
        if after[name] ~= member then
            redis.call("ZREM", name, member)
            moved = true
        end
    end
    for name, member in pairs(after) do
        if before[name] ~= member then
            redis.call("ZADD", name, 0, member)
            moved = true
        end
    end
    if moved then
        list_places(row)
    end
end

local touched = {}

-- Write fields of an execution: every field if the execution is new.
local function put(id, values)
    local old = look(id, INDEXED)
    local row, flat = { id = id }, {}
    for _, name in ipairs(INDEXED) do
        row[name] = values[name] or old[name]
    end
    for name, value in pairs(values) do
        table.insert(flat, name)
        table.insert(flat, value)
    end
    redis.call("HSET", key("execution", id), unpack(flat))
    move(row, old and memberships(old) or {}, memberships(row))
    if old and (old.session ~= row.session or old.held_by ~= row.held_by) then
        list_places(old)
    end
    if row.schedule_id ~= "" then
        touched[row.schedule_id] = true
    end
end

local function forget(id)
    local row = look(id, INDEXED)
    move(row, memberships(row), {})
    redis.call("DEL", key("execution", id), key("attempts", id), key("logs", id))
    redis.call("HDEL", key("cancellations"), id)
    redis.call("HDEL", key("reports"), id)
end

local function put_schedule(id, values)
    local flat = {}
    for name, value in pairs(values) do
        table.insert(flat, name)
        table.insert(flat, value)
    end
    local old = values.name and redis.call("HGET", key("schedule", id), "name")
    local retained = values.name and redis.call("HGET", key("schedule", id), "retention")
    redis.call("HSET", key("schedule", id), unpack(flat))
    touched[id] = true
    if not values.name then
        return
    end
    if old and old ~= values.name and redis.call("HGET", key("names"), old) == id then
        redis.call("HDEL", key("names"), old)
        redis.call("ZREM", key("listed"), old)
    end
    if retained and retained ~= "" then
        redis.call("ZREM", key("retained"), retained .. id)
    end
    if values.retention ~= "" then
        redis.call("ZADD", key("retained"), 0, values.retention .. id)
    end
    if values.deleted == "0" then
        redis.call("HSET", key("names"), values.name, id)
        redis.call("ZADD", key("listed"), 0, values.name)
        redis.call("ZADD", key("schedules"), 0, id)
    elseif redis.call("HGET", key("names"), values.name) == id then
        redis.call("HDEL", key("names"), values.name)
        redis.call("ZREM", key("listed"), values.name)
        redis.call("ZREM", key("schedules"), id)
    end
end

-- The stamp of a schedule's next row; an empty text if the row is missing.
local function stamp_of_next(id, run_at)
    local name = key("slots", "scheduled", id)
    local members = redis.call("ZRANGEBYLEX", name, "[" .. run_at, "[" .. run_at .. PAST_ALL)
    for _, member in ipairs(members) do
        local row = look(id_in(member), { "state", "first_started_at", "retried_at", "stamp" })
        if row and is_live(row) and is_untried(row) then
            return row.stamp
        end
    end
    return ""
end

-- Update the index of schedules that may be wrong, at the end of each script that writes rows.
local function audit()
    for id in pairs(touched) do
        local name = key("schedule", id)
        local values = redis.call("HMGET", name, "audit", "next_run_at", "audited")
        local member = ""
        if values[1] == "astray" then
            member = " " .. id
        elseif values[1] == "by row" then
            member = stamp_of_next(id, values[2]) .. " " .. id
        end
        if values[1] and values[3] ~= member then
            if values[3] and values[3] ~= "" then
                redis.call("ZREM", key("audit"), values[3])
            end
            if member ~= "" then
                redis.call("ZADD", key("audit"), 0, member)
            end
            redis.call("HSET", name, "audited", member)
        end
    end
end

-- Record how an attempt ended, once for each fence and ending: settled, lost or late.
local function note_attempt(id, fence, ending, state, text)
    local name = key("attempts", id)
    local place = string.format("%06d", redis.call("HLEN", name))
    local value = place .. " " .. now .. " " .. state .. " " .. text
    local noted = redis.call("HSETNX", name, fence .. ":" .. ending, value)
    if noted == 1 and not exists(id) then
        -- The execution was purged: without this entry no purge would find the attempt.
        redis.call("ZADD", key("orphans"), 0, now .. fence .. ":" .. ending .. " " .. id)
    end
end
