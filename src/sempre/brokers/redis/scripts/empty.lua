-- Delete all messages of lanes, waiting or reserved, and return how many messages were deleted.
-- ARGV: the lanes.
local root, gone = KEYS[1], 0
for _, lane in ipairs(ARGV) do
    gone = gone + redis.call('HLEN', root .. 'bodies:' .. lane)
    for _, kind in ipairs({'bodies:', 'ready:', 'delayed:', 'receipts:'}) do
        redis.call('DEL', root .. kind .. lane)
    end
end
return gone
