-- Which switches are off, what they stop, and the end of those whose time is over.

local SWITCH = { "target", "mode", "reason", "actor", "until_at" }

local function turn_on(name)
    redis.call("DEL", key("switch", name))
    redis.call("ZREM", key("switches"), name)
    redis.call("HDEL", key("rejections"), name)
    for _, id in ipairs(redis.call("ZRANGE", key("held", name), 0, -1)) do
        put(id, { held_by = "" })
    end
end

-- The switches that are off, by name, each as an answer: its name and its fields. Besides, the
-- names of those whose time is over.
local function known_switches()
    local found, over = {}, {}
    for _, name in ipairs(redis.call("ZRANGE", key("switches"), 0, -1)) do
        local values = redis.call("HMGET", key("switch", name), unpack(SWITCH))
        if values[5] ~= "" and values[5] <= now then
            table.insert(over, name)
        else
            table.insert(values, 1, name)
            table.insert(found, values)
        end
    end
    return found, over
end

-- The switches that are off, after those whose time is over went on again.
local function switches_off()
    local found, over = known_switches()
    for _, name in ipairs(over) do
        turn_on(name)
    end
    return found
end

-- Whether the schedule of a row has a tag, or its job if it has no schedule.
local function has_tag(row, tag)
    local tags = row.tags
    if row.schedule_id ~= "" then
        tags = redis.call("HGET", key("schedule", row.schedule_id), "tags")
    end
    return tags and string.find(tags, "\n" .. tag .. "\n", 1, true) ~= nil
end

local STOPPED_BY = { "kind", "job", "queue", "name", "schedule_id", "tags" }

-- Whether a switch is meant for a row, which is known by what STOPPED_BY names.
local function stops(target, row)
    if row.kind == "manual" then
        return false
    end
    if target == "all" or target == "job:" .. row.job or target == "queue:" .. row.queue then
        return true
    end
    local what = string.sub(target, 1, 4)
    if what == "tag:" then
        return has_tag(row, string.sub(target, 5))
    end
    local before_shard = string.gsub(row.name, "%d+$", "")
    return what == "pair" and row.schedule_id ~= "" and (row.name == target or before_shard == target .. "/")
end

local function of_mode(switches, mode)
    local found = {}
    for _, switch in ipairs(switches) do
        if switch[3] == mode then
            table.insert(found, switch)
        end
    end
    return found
end

-- The switch that is off for a row: one that holds goes before one that rejects.
local function stopping(switches, row)
    for _, mode in ipairs({ "hold", "reject" }) do
        for _, switch in ipairs(of_mode(switches, mode)) do
            if stops(switch[2], row) then
                return switch
            end
        end
    end
    return nil
end

-- Whether what an order decides about is stopped as it was when it was planned, or as little.
local function decision_stands(switches, order)
    local row = order.decides ~= "" and look(order.decides, STOPPED_BY)
    local switch = row and stopping(switches, row) or { "", "", "" }
    local planned = order.stopped_by
    return switch[1] == planned[1] and switch[2] == planned[2] and switch[3] == planned[3]
end
