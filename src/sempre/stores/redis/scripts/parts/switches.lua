-- Which switches are off, which rows they stop, and the end of switches whose time is over.

local SWITCH = { "target", "mode", "reason", "actor", "until_at" }

-- Whether the schedule of a row has a tag; for a row without a schedule, whether its job has it.
local function has_tag(row, tag)
    local tags = row.tags
    if row.schedule_id ~= "" then
        tags = redis.call("HGET", key("schedule", row.schedule_id), "tags")
    end
    return tags and string.find(tags, "\n" .. tag .. "\n", 1, true) ~= nil
end

local STOPPED_BY = { "kind", "job", "queue", "name", "schedule_id", "tags" }

-- Whether a switch of this target stops a row that has the fields of STOPPED_BY.
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

-- Record the switch as the reason of slots that it kept waiting past their due_at.
local function note_held(name, target)
    local last = "(" .. now .. PAST_ALL
    for _, lane in ipairs(redis.call("ZRANGE", key("lanes", "slots"), 0, -1)) do
        for _, member in ipairs(redis.call("ZRANGEBYLEX", key("lane", "slots", lane), "-", last)) do
            local row = look(id_in(member), { "first_started_at", "retried_at", unpack(STOPPED_BY) })
            if row.kind == "scheduled" and is_untried(row) and stops(target, row) then
                redis.call("HSET", key("execution", id_in(member)), "reason", "held by " .. name)
            end
        end
    end
end

local function turn_on(name)
    local ended = redis.call("HMGET", key("switch", name), "target", "mode")
    redis.call("DEL", key("switch", name))
    redis.call("ZREM", key("switches"), name)
    redis.call("HDEL", key("rejections"), name)
    for _, id in ipairs(redis.call("ZRANGE", key("held", name), 0, -1)) do
        put(id, { held_by = "" })
    end
    if ended[1] and ended[2] ~= "reject" then
        note_held(name, ended[1])
    end
end

-- The switches that are off, by name, each as a script returns it: its name and its fields. Also
-- the names of switches whose time is over.
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

-- Turn switches on whose time is over, and return the switches that are off.
local function switches_off()
    local found, over = known_switches()
    for _, name in ipairs(over) do
        turn_on(name)
    end
    return found
end

-- The switches that reject, or all others: a mode of a newer release counts as "hold".
local function of_mode(switches, mode)
    local found = {}
    for _, switch in ipairs(switches) do
        if (switch[3] == "reject") == (mode == "reject") then
            table.insert(found, switch)
        end
    end
    return found
end

-- The switch that stops a row: a switch that holds precedes a switch that rejects.
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

-- Whether the order saw the switch, or no switch, that stops its execution now.
local function decision_stands(switches, order)
    local row = order.decides ~= "" and look(order.decides, STOPPED_BY)
    local switch = row and stopping(switches, row) or { "", "", "" }
    local planned = order.stopped_by
    return switch[1] == planned[1] and switch[2] == planned[2] and switch[3] == planned[3]
end
