-- needs: base known rows views
-- Return schedules whose next row is missing or has an older stamp. Also return schedules whose
-- cursor is in the future, and which gave up slots because a clock was in the future too.
local stamp, limit, ahead = argument(), number(), later(number())
local found, seen = {}, {}

local function add(id)
    if #found < limit and not seen[id] then
        seen[id] = true
        table.insert(found, view(id))
    end
end

local last = "(" .. stamp .. " "
for _, member in ipairs(redis.call("ZRANGEBYLEX", key("audit"), "-", last, "LIMIT", 0, limit)) do
    add(string.match(member, "^[^ ]* (.*)$"))
end

local function add_if_ahead(id)
    local schedule = redis.call("HMGET", key("schedule", id), "cursor", "deleted")
    if schedule[1] and schedule[1] > ahead and schedule[2] == "0" then
        add(id)
    end
end

local future = "(" .. ahead .. PAST_ALL
for _, member in ipairs(redis.call("ZRANGEBYLEX", key("ranges"), future, "+")) do
    add_if_ahead(string.sub(member, 69))
end
for _, member in ipairs(redis.call("ZRANGEBYLEX", key("ended"), future, "+")) do
    local row = look(id_in(member), { "schedule_id", "kind", "state" })
    local given_up = row.state == "skipped" or row.state == "missed"
    if given_up and row.kind == "scheduled" and row.schedule_id ~= "" then
        add_if_ahead(row.schedule_id)
    end
end
return { now, found }
