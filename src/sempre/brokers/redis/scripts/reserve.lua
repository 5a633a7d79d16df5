-- Reserves messages that are due, by priority over all lanes.
-- ARGV: how many at most, for how many microseconds, the receipt, then the lanes.
-- Returns in how many microseconds the next one is due, -1 if none is, then of each message its
-- lane, id and body.
--
-- A reservation is one more delay: whoever does not finish in time finds the message due again.
local root = KEYS[1]
local limit, visibility, receipt = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- No script may hold the server up: what is due beyond these is made ready by the next call.
local BATCH, BATCHES = 1000, 10

local function make_ready(lane)
    local delayed, ready = root .. 'delayed:' .. lane, root .. 'ready:' .. lane
    for _ = 1, BATCHES do
        local ids = redis.call('ZRANGEBYSCORE', delayed, '-inf', now, 'LIMIT', 0, BATCH)
        if #ids == 0 then
            return
        end
        local scored = {}
        for _, id in ipairs(ids) do
            scored[#scored + 1] = 0
            scored[#scored + 1] = id
        end
        -- Removing comes first: a full server lets whoever has begun to write go on.
        redis.call('ZREM', delayed, unpack(ids))
        redis.call('ZADD', ready, unpack(scored))
    end
end

local due, answer = {}, {-1}
for place = 4, #ARGV do
    local lane = ARGV[place]
    make_ready(lane)
    for _, id in ipairs(redis.call('ZRANGE', root .. 'ready:' .. lane, 0, limit - 1)) do
        due[#due + 1] = {id = id, lane = lane}
    end
end
table.sort(due, function(one, other) return one.id < other.id end)

for place = 1, math.min(limit, #due) do
    local id, lane = due[place].id, due[place].lane
    local body = redis.call('HGET', root .. 'bodies:' .. lane, id)
    redis.call('ZREM', root .. 'ready:' .. lane, id)
    -- Without a body it is nothing that was put; somebody else wrote it here.
    if body then
        redis.call('ZADD', root .. 'delayed:' .. lane, now + visibility, id)
        redis.call('HSET', root .. 'receipts:' .. lane, id, receipt)
        answer[#answer + 1] = lane
        answer[#answer + 1] = id
        answer[#answer + 1] = body
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
