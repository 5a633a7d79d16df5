-- Forgets messages whose reservation is still the given one.
-- ARGV: of each its lane, id and receipt.
local root = KEYS[1]
for at = 1, #ARGV, 3 do
    local lane, id, receipt = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    if redis.call('HGET', root .. 'receipts:' .. lane, id) == receipt then
        redis.call('ZREM', root .. 'delayed:' .. lane, id)
        redis.call('ZREM', root .. 'ready:' .. lane, id)
        redis.call('HDEL', root .. 'receipts:' .. lane, id)
        redis.call('HDEL', root .. 'bodies:' .. lane, id)
    end
end
return redis.status_reply('OK')
