-- A schedule with the rows that planning needs.

local function add_rows(into, ids)
    for _, id in ipairs(ids) do
        into[id] = true
    end
end

local function add_members(into, name, after)
    for _, member in ipairs(redis.call("ZRANGEBYLEX", name, "(" .. after .. PAST_ALL, "+")) do
        into[id_in(member)] = true
    end
end

local function view(id)
    local schedule = redis.call("HMGET", key("schedule", id), unpack(SCHEDULE))
    if not schedule[1] then
        return false
    end
    local wanted, earliest = {}, nil
    local active = redis.call("ZRANGE", key("active", id), 0, -1)
    add_rows(wanted, active)
    for _, each in ipairs(active) do
        local row = look(each, { "state", "due_at" })
        if is_live(row) and (not earliest or row.due_at < earliest) then
            earliest = row.due_at
        end
    end
    add_members(wanted, key("slots", "scheduled", id), schedule[SCHEDULE_AT.cursor])
    if earliest then
        add_members(wanted, key("finished", id), earliest)
    end
    local rows = {}
    for each in pairs(wanted) do
        table.insert(rows, answer(each))
    end
    table.insert(schedule, 1, id)
    return { schedule, rows }
end

-- Executions, each with the view of its schedule and the switch that stops it while it waits.
-- Missing executions are left out. Needs the part `switches` before this part.
local function candidates(ids, switches)
    local found, views = {}, {}
    for _, id in ipairs(ids) do
        local row = answer(id)
        if row then
            -- The id comes before the fields.
            local schedule_id, state = row[1 + ROW_AT.schedule_id], row[1 + ROW_AT.state]
            if schedule_id ~= "" and views[schedule_id] == nil then
                views[schedule_id] = view(schedule_id)
            end
            local waits = state == "pending" or state == "scheduled"
            local switch = waits and stopping(switches, look(id, STOPPED_BY))
            table.insert(found, { row, views[schedule_id] or false, switch or false })
        end
    end
    return found
end
