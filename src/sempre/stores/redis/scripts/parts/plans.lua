-- Plans: how scripts read them, whether they fit, and how they are carried out. A script cannot
-- roll back, so each order is checked completely before its first write.

local GUARDS = { "state", "attempt", "fence", "held_by" }

local function read_order()
    local order = {
        base = argument(), revision = argument(), starts = argument(), cursor = argument(),
        moves = argument() == "1", changes = {}, creates = {}, ranges = {},
    }
    order.decides, order.stopped_by = argument(), { argument(), argument(), argument() }
    order.schedule = fields()
    for place = 1, number() do
        order.changes[place] = {
            id = argument(), state = argument(), attempt = argument(), fence = argument(),
            held_by = argument(), loss = argument(), rescues = argument() == "1",
            frees = argument() == "1", takes = { argument(), argument() }, after = fields(),
        }
    end
    for place = 1, number() do
        order.creates[place] = { id = argument(), row = fields() }
    end
    for place = 1, number() do
        order.ranges[place] = {
            schedule_id = argument(), first = argument(), last = argument(), text = argument(),
        }
    end
    order.retracts_after = argument()
    return order
end

-- Whether an order leaves the name of its schedule, or takes a free one.
local function name_is_free(order)
    local holder = order.schedule.name and redis.call("HGET", key("names"), order.schedule.name)
    return not holder or holder == order.base
end

local function base_stands(order)
    local names = { "revision", "starts", "cursor" }
    local found = redis.call("HMGET", key("schedule", order.base), unpack(names))
    if found[1] ~= order.revision then
        return false
    end
    return not order.moves or (found[2] == order.starts and found[3] == order.cursor)
end

local function change_stands(change)
    local found = look(change.id, GUARDS)
    for _, name in ipairs(GUARDS) do
        if not found or found[name] ~= change[name] then
            return false
        end
    end
    return true
end

-- Whether each slot still has one row of kind scheduled and one active backfill.
local function slots_stay_unique(order)
    local freed, wanted = {}, {}
    for _, change in ipairs(order.changes) do
        freed[change.id] = change.frees
    end
    local function is_free(name, slot)
        if wanted[name .. slot] then
            return false
        end
        wanted[name .. slot] = true
        local members = redis.call("ZRANGEBYLEX", name, "[" .. slot, "[" .. slot .. PAST_ALL)
        for _, member in ipairs(members) do
            if not freed[id_in(member)] then
                return false
            end
        end
        return true
    end
    for _, create in ipairs(order.creates) do
        local row = create.row
        local has_slot = row.kind == "scheduled" or row.kind == "backfill"
        if row.schedule_id ~= "" and has_slot
            and not is_free(key("slots", row.kind, row.schedule_id), row.run_at) then
            return false
        end
    end
    for _, change in ipairs(order.changes) do
        -- A backfill that is retried holds its slot again.
        local schedule_id, run_at = change.takes[1], change.takes[2]
        if schedule_id ~= "" and not is_free(key("slots", "backfill", schedule_id), run_at) then
            return false
        end
    end
    return true
end

-- Whether an order was carried out before: the rows that the order creates exist.
local function is_done(order)
    for _, create in ipairs(order.creates) do
        if not exists(create.id) then
            return false
        end
    end
    return #order.creates > 0
end

local function fits(order)
    if order.base ~= "" and not base_stands(order) then
        return false
    end
    for _, create in ipairs(order.creates) do
        if exists(create.id) then
            return false
        end
    end
    for _, change in ipairs(order.changes) do
        if not change_stands(change) then
            return false
        end
    end
    return name_is_free(order) and slots_stay_unique(order)
end

-- Ranges sort by first slot; of ranges with one first slot, a backward scan reads the oldest first.
local function note_range(range)
    local count = redis.call("HINCRBY", key("meta"), "ranges", 1)
    local place = range.first .. string.format("%015d", 999999999999999 - count)
    redis.call("ZADD", key("ranges", range.schedule_id), 0, place .. range.last .. range.text)
    local age = range.last .. string.format("%015d", count)
    redis.call("ZADD", key("ranges"), 0, age .. place .. range.schedule_id)
end

-- Delete ranges that end after an instant.
local function retract_ranges(schedule_id, after)
    local name = key("ranges", schedule_id)
    for _, member in ipairs(redis.call("ZRANGE", name, 0, -1)) do
        local place, last = string.sub(member, 1, 34), string.sub(member, 35, 53)
        if last > after then
            local count = 999999999999999 - tonumber(string.sub(place, 20))
            local age = last .. string.format("%015d", count)
            redis.call("ZREM", name, member)
            redis.call("ZREM", key("ranges"), age .. place .. schedule_id)
        end
    end
end

local function carry_out(order)
    for _, change in ipairs(order.changes) do
        coalesce(change)
        put(change.id, change.after)
    end
    for _, create in ipairs(order.creates) do
        create.row.created_at = now
        put(create.id, create.row)
    end
    if order.retracts_after ~= "" then
        retract_ranges(order.base, order.retracts_after)
    end
    for _, range in ipairs(order.ranges) do
        note_range(range)
    end
    if next(order.schedule) then
        put_schedule(order.base, order.schedule)
    end
end

-- Record attempts that an order has ended as lost: their workers no longer hold the claims.
local function note_losses(order)
    for _, change in ipairs(order.changes) do
        if change.loss ~= "" then
            local row = look(change.id, { "state", "fence" })
            note_attempt(change.id, change.fence, "lost", row.state, change.loss)
        end
    end
end

local function next_fence()
    return whole(redis.call("HINCRBY", key("meta"), "fence", 1))
end
