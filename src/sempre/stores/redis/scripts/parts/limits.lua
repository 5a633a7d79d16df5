-- Limits: how much of each is taken, who is parked, and who may go on. The rules are those of
-- limit_room.py. A row keeps its limits as JSON: key, word, count, period and reason of each.

local function limits_of(id)
    local text = redis.call("HGET", key("execution", id), "limits")
    local found = {}
    for place, each in ipairs(text and text ~= "" and cjson.decode(text) or {}) do
        found[place] = {
            key = each[1], word = each[2], count = each[3], period = each[4], reason = each[5],
        }
    end
    return found
end

-- How much of a limit is taken: runs at present, or starts younger than the period.
local function taken(limit)
    if limit.word == "concurrency" then
        return redis.call("ZCARD", key("limit-runs", limit.key))
    end
    local after = "(" .. later(-limit.period) .. PAST_ALL
    return redis.call("ZLEXCOUNT", key("limit-starts", limit.key), after, "+")
end

-- Whether parked executions that go before a row will need all the room.
local function goes_behind(row, limit, room)
    local own, ahead = rank_of(row), 0
    local first = redis.call("ZRANGE", key("parked", PARKED .. limit.key), 0, room - 1)
    for _, member in ipairs(first) do
        if precedes(member, own) then
            ahead = ahead + 1
        end
    end
    return ahead >= room
end

-- How many running executions an order ends, by the key of their concurrency.
local function ended_by(order)
    local ended = {}
    for _, change in ipairs(order.changes) do
        if change.state == "running" and change.after.state ~= "running" then
            local limit_key = look(change.id, { "state", "limit_key" }).limit_key
            ended[limit_key] = (ended[limit_key] or 0) + 1
        end
    end
    return ended
end

-- The limit that keeps a row from starting by an order, and whether that limit is full.
local function limit_before(row, limits, order)
    local ended = #limits > 0 and ended_by(order)
    for _, limit in ipairs(limits) do
        local room = limit.count - taken(limit) + (ended[limit.key] or 0)
        if room <= 0 then
            return limit, true
        elseif goes_behind(row, limit, room) then
            return limit, false
        end
    end
    return nil, false
end

-- Record a start under the rates of an execution; the starts expire when they count no more.
local function note_start(limits, fence)
    for _, limit in ipairs(limits) do
        if limit.word == "rate" then
            local name, kept = key("limit-starts", limit.key), key("limit-period", limit.key)
            local period = math.max(limit.period, tonumber(redis.call("GET", kept) or 0))
            local milliseconds = whole(math.ceil(period / 1000) + 1000)
            redis.call("ZREMRANGEBYLEX", name, "-", "[" .. later(-period) .. PAST_ALL)
            redis.call("ZADD", name, 0, now .. fence)
            redis.call("PEXPIRE", name, milliseconds)
            redis.call("SET", kept, whole(period), "PX", milliseconds)
        end
    end
end

local function park(id, limit)
    local row = look(id, { "state" })
    if is_live(row) then
        put(id, { held_by = PARKED .. limit.key, reason = limit.reason })
    end
end

-- Park due executions that wait for a full limit, by the first key that they have in common.
local function park_crowd(first_key, limit, most)
    local last = "(" .. now .. PAST_ALL
    local name = key("limit-waits", first_key)
    for _, member in ipairs(redis.call("ZRANGEBYLEX", name, "-", last, "LIMIT", 0, most)) do
        local row = look(id_in(member), { "state", "limit_key", "rate_key" })
        if row.limit_key == limit.key or row.rate_key == limit.key then
            park(id_in(member), limit)
        end
    end
end

-- An instant plus some microseconds.
local function plus(instant, microseconds)
    local sum = tonumber(string.sub(instant, 14)) + microseconds
    local seconds = math.floor(sum / 1000000)
    return string.format("1%012d%06d", seconds_of(instant) + seconds, sum - seconds * 1000000)
end

-- Note when a rate opens: when its oldest start ends, if the freed executions start now.
local function note_opening(opens, limit)
    if limit.word == "rate" then
        local number = math.min(limit.count, taken(limit))
        local name = key("limit-starts", limit.key)
        local start = number > 0 and redis.call("ZREVRANGE", name, number - 1, number - 1)[1]
        opens[limit.key] = plus(start and string.sub(start, 1, WIDTH) or now, limit.period)
    end
end

-- The limits of a row besides the one of a key, and the one of the key.
local function split(limits, own_key)
    local own, others = nil, {}
    for _, limit in ipairs(limits) do
        if limit.key == own_key then
            own = limit
        else
            table.insert(others, limit)
        end
    end
    return own, others
end

local function full_among(limits)
    for _, limit in ipairs(limits) do
        if taken(limit) >= limit.count then
            return limit
        end
    end
    return nil
end

-- Free parked executions of a key, the first ones first; `extra` beyond the room if there is any.
local function open(limit_key, most, extra, freed, opens)
    local count = 0
    local members = redis.call("ZRANGE", key("parked", PARKED .. limit_key), 0, most - 1)
    for _, member in ipairs(members) do
        local id = string.sub(member, RANK_WIDTH + 1)
        local own, others = split(limits_of(id), limit_key)
        local room = own and own.count - taken(own)
        if own and (room <= 0 or count >= room + extra) then
            note_opening(opens, own)
            return
        end
        local full = full_among(others)
        if full then
            park(id, full)
            note_opening(opens, full)
        else
            put(id, { held_by = "", reason = "", due_at = now })
            table.insert(freed, id)
            count = count + 1
        end
    end
end
