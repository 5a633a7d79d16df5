-- needs: base known rows switches
-- Return the waiting executions that were due before an instant, in groups of queue, job, switch
-- and kind. At most a limit of executions is counted in each lane, and for each switch.
local until_at, limit, found, places = later(number()), number(), {}, {}

local function add(queue, job, switch, kind, count, oldest)
    local name = table.concat({ switch, kind, queue, job }, "\n")
    local group = found[places[name]]
    if group then
        group[5] = group[5] + count
        group[6] = oldest < group[6] and oldest or group[6]
    else
        table.insert(found, { queue, job, switch, kind, count, oldest })
        places[name] = #found
    end
end

local last = "(" .. until_at .. PAST_ALL
for _, kind in ipairs({ "manual", "single", "slots" }) do
    for _, lane in ipairs(redis.call("ZRANGE", key("lanes", kind), 0, -1)) do
        local size, names = string.match(lane, "^%d+:(%d+):(.*)$")
        local queue, job = string.sub(names, 1, tonumber(size)), string.sub(names, tonumber(size) + 1)
        local name = key("lane", kind, lane)
        local members = redis.call("ZRANGEBYLEX", name, "-", last, "LIMIT", 0, limit)
        if #members > 0 then
            local group = kind == "single" and kind or "slots"
            add(queue, job, "", group, #members, string.sub(members[1], 1, WIDTH))
        end
    end
end

for _, switch in ipairs(known_switches()) do
    for _, id in ipairs(redis.call("ZRANGE", key("held", switch[1]), 0, limit - 1)) do
        local row = look(id, { "queue", "job", "due_at", "schedule_id", "kind" })
        if row.due_at <= until_at then
            local group = row.schedule_id == "" and "single" or "slots"
            add(row.queue, row.job, switch[1], group, 1, row.due_at)
        end
    end
end
return { now, found }
