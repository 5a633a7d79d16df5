-- Takes messages in and returns their ids.
-- ARGV: of each message its lane, delay in microseconds, priority and body.
--
-- An id is the priority and a number, so that the ids of a lane sort as they are to be delivered.
-- The first write is the one that a full server refuses, before anything has happened.
local root = KEYS[1]
local count = #ARGV / 4
local last = redis.call('INCRBY', root .. 'number', count)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ids, heads, heard = {}, {}, {}

local function head_of(lane)
    if heads[lane] == nil then
        local first = redis.call('ZRANGE', root .. 'delayed:' .. lane, 0, 0, 'WITHSCORES')
        heads[lane] = tonumber(first[2]) or math.huge
    end
    return heads[lane]
end

for place = 1, count do
    local at = (place - 1) * 4
    local lane, delay, priority, body = ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4]
    local id = string.format('%010d-%016d', priority, last - count + place)
    ids[place] = id
    redis.call('HSET', root .. 'bodies:' .. lane, id, body)
    if delay <= 0 then
        redis.call('ZADD', root .. 'ready:' .. lane, 0, id)
        heard[lane] = true
    else
        heard[lane] = heard[lane] or now + delay < head_of(lane)
        redis.call('ZADD', root .. 'delayed:' .. lane, now + delay, id)
    end
end
-- Whoever waits does so until the first message that was delayed is due: only a sooner one is news.
for lane, is_news in pairs(heard) do
    if is_news then
        redis.call('PUBLISH', root .. 'lane:' .. lane, '')
    end
end
return ids
