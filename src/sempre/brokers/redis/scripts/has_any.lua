-- Return whether a lane has a message without a reservation, or with an expired one: 1 or 0.
-- ARGV: the lane.
local root, lane = KEYS[1], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local delayed = root .. 'delayed:' .. lane
if redis.call('EXISTS', root .. 'ready:' .. lane) == 1 then
    return 1
end
if redis.call('ZCOUNT', delayed, '-inf', now) > 0 then
    return 1
end
-- A reservation is one more delay: here every message with a receipt is among the delayed messages.
local reserved = redis.call('HLEN', root .. 'receipts:' .. lane)
return redis.call('ZCARD', delayed) > reserved and 1 or 0
