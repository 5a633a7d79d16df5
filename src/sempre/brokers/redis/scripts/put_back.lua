-- Deliver messages again after a delay, if their receipt is still the given one.
-- ARGV: a lane, a receipt, the delay in microseconds, and up to a thousand ids.
--
-- The script removes first: a full server lets a script that has begun to write continue.
local root, lane, receipt, delay = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local known = redis.call('HMGET', root .. 'receipts:' .. lane, unpack(ARGV, 4))
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ours, due = {}, {}
for place = 4, #ARGV do
    if known[place - 3] == receipt then
        ours[#ours + 1] = ARGV[place]
        due[#due + 1] = now + delay
        due[#due + 1] = ARGV[place]
    end
end
if #ours > 0 then
    redis.call('HDEL', root .. 'receipts:' .. lane, unpack(ours))
    redis.call('ZREM', root .. 'ready:' .. lane, unpack(ours))
    redis.call('ZADD', root .. 'delayed:' .. lane, unpack(due))
    redis.call('PUBLISH', root .. 'lane:' .. lane, '')
end
return redis.status_reply('OK')
