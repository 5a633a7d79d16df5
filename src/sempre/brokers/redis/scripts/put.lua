-- Enqueue messages and return their ids.
-- ARGV: the lane, delay in microseconds, priority and body of each message, at most a thousand.
--
-- An id is the priority and a number, so that the ids of a lane sort in the order of delivery.
-- A full server refuses the first write, before the script has changed any key.
local root = KEYS[1]
local count = #ARGV / 4
local last = redis.call('INCRBY', root .. 'number', count)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ids, lanes = {}, {}

for place = 1, count do
    local at = (place - 1) * 4
    local name, delay = ARGV[at + 1], tonumber(ARGV[at + 2])
    local id = string.format('%010d-%016d', ARGV[at + 3], last - count + place)
    local lane = lanes[name]
    if not lane then
        lane = {bodies = {}, ready = {}, delayed = {}, first = math.huge}
        lanes[name] = lane
    end
    ids[place] = id
    lane.bodies[#lane.bodies + 1] = id
    lane.bodies[#lane.bodies + 1] = ARGV[at + 4]
    local waiting = delay > 0 and lane.delayed or lane.ready
    waiting[#waiting + 1] = delay > 0 and now + delay or 0
    waiting[#waiting + 1] = id
    lane.first = math.min(lane.first, now + delay)
end

for name, lane in pairs(lanes) do
    -- Consumers wait until the first delayed message is due: only an earlier message is announced.
    local head = redis.call('ZRANGE', root .. 'delayed:' .. name, 0, 0, 'WITHSCORES')
    redis.call('HSET', root .. 'bodies:' .. name, unpack(lane.bodies))
    if #lane.ready > 0 then
        redis.call('ZADD', root .. 'ready:' .. name, unpack(lane.ready))
    end
    if #lane.delayed > 0 then
        redis.call('ZADD', root .. 'delayed:' .. name, unpack(lane.delayed))
    end
    if #lane.ready > 0 or lane.first < (tonumber(head[2]) or math.huge) then
        redis.call('PUBLISH', root .. 'lane:' .. name, '')
    end
end
return ids
