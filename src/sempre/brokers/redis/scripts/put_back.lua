-- Lets messages be delivered again after a delay, if their reservation is still the given one.
-- ARGV: the delay in microseconds, then of each message its lane, id and receipt.
local root = KEYS[1]
local delay = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local heard = {}
for at = 2, #ARGV, 3 do
    local lane, id, receipt = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    if redis.call('HGET', root .. 'receipts:' .. lane, id) == receipt then
        -- Removing comes first: a full server lets whoever has begun to write go on.
        redis.call('HDEL', root .. 'receipts:' .. lane, id)
        redis.call('ZREM', root .. 'ready:' .. lane, id)
        redis.call('ZADD', root .. 'delayed:' .. lane, now + math.max(0, delay), id)
        heard[lane] = true
    end
end
for lane in pairs(heard) do
    redis.call('PUBLISH', root .. 'lane:' .. lane, '')
end
return redis.status_reply('OK')
