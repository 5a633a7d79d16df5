-- Delete messages whose receipt is still the given one.
-- ARGV: a lane, a receipt, and up to a thousand ids reserved under the receipt.
local root, lane, receipt = KEYS[1], ARGV[1], ARGV[2]
local known = redis.call('HMGET', root .. 'receipts:' .. lane, unpack(ARGV, 3))
local ours = {}
for place = 3, #ARGV do
    if known[place - 2] == receipt then
        ours[#ours + 1] = ARGV[place]
    end
end
if #ours > 0 then
    redis.call('ZREM', root .. 'delayed:' .. lane, unpack(ours))
    redis.call('ZREM', root .. 'ready:' .. lane, unpack(ours))
    redis.call('HDEL', root .. 'receipts:' .. lane, unpack(ours))
    redis.call('HDEL', root .. 'bodies:' .. lane, unpack(ours))
end
return redis.status_reply('OK')
