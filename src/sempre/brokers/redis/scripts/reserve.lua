-- Reserve messages that are due, by priority over all lanes.
-- ARGV: the limit, up to a thousand; the reservation in microseconds; the receipt; the lanes.
-- Return in how many microseconds the next message is due, -1 if messages are returned or there are
-- none, then the lane, id and body of each message.
--
-- A reservation is one more delay: a message that is not acknowledged in time is due again.
-- The script removes first: a full server lets a script that has begun to write continue.
local root = KEYS[1]
local limit, visibility, receipt = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- A script must not block the server for long: the next call makes further due messages ready.
local BATCH, BATCHES = 1000, 10

-- Return each text preceded by `first`, since ZADD takes pairs.
local function paired(first, texts)
    local pairs_of = {}
    for place, text in ipairs(texts) do
        pairs_of[place * 2 - 1] = first
        pairs_of[place * 2] = text
    end
    return pairs_of
end

local function make_ready(lane)
    local delayed, ready = root .. 'delayed:' .. lane, root .. 'ready:' .. lane
    for _ = 1, BATCHES do
        local ids = redis.call('ZRANGEBYSCORE', delayed, '-inf', now, 'LIMIT', 0, BATCH)
        if #ids == 0 then
            return
        end
        redis.call('ZREM', delayed, unpack(ids))
        redis.call('ZADD', ready, unpack(paired(0, ids)))
    end
end

-- Return the ids to reserve by lane: the first ids over all lanes.
local function chosen()
    local due, by_lane = {}, {}
    for place = 4, #ARGV do
        local lane = ARGV[place]
        make_ready(lane)
        for _, id in ipairs(redis.call('ZRANGE', root .. 'ready:' .. lane, 0, limit - 1)) do
            due[#due + 1] = {id, lane}
        end
    end
    if #ARGV > 4 then
        table.sort(due, function(one, other) return one[1] < other[1] end)
    end
    for place = 1, math.min(limit, #due) do
        local id, lane = due[place][1], due[place][2]
        by_lane[lane] = by_lane[lane] or {}
        table.insert(by_lane[lane], id)
    end
    return by_lane
end

local answer = {-1}
for lane, ids in pairs(chosen()) do
    local bodies = redis.call('HMGET', root .. 'bodies:' .. lane, unpack(ids))
    local ours, receipts = {}, {}
    for place, id in ipairs(ids) do
        -- An id without a body was not written by put.lua but by another program: skip the id.
        if bodies[place] then
            ours[#ours + 1] = id
            receipts[#receipts + 1] = id
            receipts[#receipts + 1] = receipt
            answer[#answer + 1] = lane
            answer[#answer + 1] = id
            answer[#answer + 1] = bodies[place]
        end
    end
    redis.call('ZREM', root .. 'ready:' .. lane, unpack(ids))
    if #ours > 0 then
        redis.call('ZADD', root .. 'delayed:' .. lane, unpack(paired(now + visibility, ours)))
        redis.call('HSET', root .. 'receipts:' .. lane, unpack(receipts))
    end
end

if #answer == 1 then
    local first = math.huge
    for place = 4, #ARGV do
        local head = redis.call('ZRANGE', root .. 'delayed:' .. ARGV[place], 0, 0, 'WITHSCORES')
        first = math.min(first, tonumber(head[2]) or math.huge)
    end
    if first < math.huge then
        answer[1] = math.max(0, first - now)
    end
end
return answer
