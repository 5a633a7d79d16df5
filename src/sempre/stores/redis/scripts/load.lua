-- needs: base known rows unique plans actions
-- Load records of another store, each if it is unknown. Return how many were written.
local loaders = {}

function loaders.schedule()
    local id, values = argument(), fields()
    local is_named = values.deleted == "0" and redis.call("HEXISTS", key("names"), values.name) == 1
    if is_named or redis.call("EXISTS", key("schedule", id)) == 1 then
        return false
    end
    put_schedule(id, values)
    return true
end

-- Whether another row holds the slot that a row would hold.
local function is_slot_taken(row)
    if row.schedule_id == "" then
        return false
    end
    local name = key("slots", row.kind, row.schedule_id)
    if not memberships(row)[name] then
        return false
    end
    local first, last = "[" .. row.run_at, "[" .. row.run_at .. PAST_ALL
    return #redis.call("ZRANGEBYLEX", name, first, last, "LIMIT", 0, 1) > 0
end

function loaders.execution()
    local id, row = argument(), fields()
    row.id = id
    if exists(id) or is_slot_taken(row) then
        return false
    end
    row.id = nil
    put(id, row)
    return true
end

function loaders.range()
    local range = {
        schedule_id = argument(), first = argument(), last = argument(), text = argument(),
    }
    local name, first = key("ranges", range.schedule_id), "[" .. range.first
    for _, member in ipairs(redis.call("ZRANGEBYLEX", name, first, first .. PAST_ALL)) do
        if string.sub(member, WIDTH + 16) == range.last .. range.text then
            return false
        end
    end
    note_range(range)
    return true
end

function loaders.rollup()
    local name, field = key("rollups", argument()), argument()
    local count, microseconds = argument(), argument()
    if redis.call("HSETNX", name, field .. " count", count) == 0 then
        return false
    end
    redis.call("HSET", name, field .. " microseconds", microseconds)
    return true
end

function loaders.attempt()
    local id, fence, ending, text = argument(), argument(), argument(), argument()
    local name = key("attempts", id)
    local place = string.format("%06d", redis.call("HLEN", name))
    return exists(id) and redis.call("HSETNX", name, fence .. ":" .. ending, place .. " " .. text) == 1
end

function loaders.log()
    local id, fence, written_at, text = argument(), argument(), argument(), argument()
    local when = written_at ~= "" and written_at or now
    return exists(id) and redis.call("HSETNX", key("logs", id), fence, when .. text) == 1
end

function loaders.action()
    local when = argument()
    return record_action(read_action(), when ~= "" and when or nil)
end

local count = 0
for _ = 1, number() do
    if loaders[argument()]() then
        count = count + 1
    end
end
audit()
return count
