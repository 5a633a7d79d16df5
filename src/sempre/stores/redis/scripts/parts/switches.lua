-- Which switches are off, what they stop, and the end of those whose time is over.

local SWITCH = { "target", "mode", "reason", "actor", "until_at" }

local function turn_on(name)
    redis.call("DEL", key("switch", name))
    redis.call("ZREM", key("switches"), name)
    for _, id in ipairs(redis.call("ZRANGE", key("held", name), 0, -1)) do
        put(id, { held_by = "" })
    end
end

-- The switches that are off, by name, each as an answer: its name and its fields.
local function switches_off()
    local found = {}
    for _, name in ipairs(redis.call("ZRANGE", key("switches"), 0, -1)) do
        local values = redis.call("HMGET", key("switch", name), unpack(SWITCH))
        if values[5] ~= "" and values[5] <= now then
            turn_on(name)
        else
            table.insert(values, 1, name)
            table.insert(found, values)
        end
    end
    return found
end

local function has_tag(schedule_id, tag)
    local tags = redis.call("HGET", key("schedule", schedule_id), "tags")
    return tags and string.find(tags, "\n" .. tag .. "\n", 1, true) ~= nil
end

-- The first switch that is off for a row, which is known by job, queue, name and schedule_id.
local function stopping(switches, row)
    for _, switch in ipairs(switches) do
        local target = switch[2]
        if
            target == "all"
            or target == "job:" .. row.job
            or target == "queue:" .. row.queue
            or target == "pair:" .. row.name
            or (
                string.sub(target, 1, 4) == "tag:"
                and row.schedule_id ~= ""
                and has_tag(row.schedule_id, string.sub(target, 5))
            )
        then
            return switch
        end
    end
    return nil
end

local STOPPED_BY = { "job", "queue", "name", "schedule_id" }
