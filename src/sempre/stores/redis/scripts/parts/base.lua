-- The beginning of every script: its arguments, the names of keys, and the server's now.
-- Instants are texts of 19 digits, microseconds since 1970 plus 10^18: texts sort as instants do,
-- and no double rounds an instant. Only instants are compared with <, since Lua compares texts by
-- the server's locale.

local at = 0

local function argument()
    at = at + 1
    return ARGV[at]
end

local function number()
    return tonumber(argument())
end

local function list()
    local found = {}
    for place = 1, number() do
        found[place] = argument()
    end
    return found
end

local function set()
    local found = {}
    for _, each in ipairs(list()) do
        found[each] = true
    end
    return found
end

-- A table by name from pairs of names and values.
local function fields()
    local found = {}
    for _ = 1, number() do
        local name = argument()
        found[name] = argument()
    end
    return found
end

-- KEYS[1] is "{prefix}:", the hash tag that keeps all keys of a store in one slot of a cluster.
local function key(...)
    return KEYS[1] .. table.concat({ ... }, ":")
end

local time = redis.call("TIME")
local now = string.format("1%012d%06d", time[1], time[2])
local LAST_SECOND = 253402300799

-- The server's now plus some microseconds, which may be negative.
local function later(microseconds)
    local sum = tonumber(time[2]) + microseconds
    local seconds = math.floor(sum / 1000000)
    local rest = sum - seconds * 1000000
    seconds = math.max(0, math.min(LAST_SECOND, tonumber(time[1]) + seconds))
    return string.format("1%012d%06d", seconds, rest)
end

-- The whole seconds since 1970 of an instant.
local function seconds_of(instant)
    return tonumber(string.sub(instant, 1, 13)) - 1000000000000
end

local function microseconds_between(first, last)
    local seconds = seconds_of(last) - seconds_of(first)
    return seconds * 1000000 + tonumber(string.sub(last, 14)) - tonumber(string.sub(first, 14))
end

local function whole(value)
    return string.format("%.0f", value)
end

-- A member of a sorted set of score 0 is an instant and an id: members sort by their bytes.
local WIDTH = 19
local PAST_ALL = "\255"

local function id_in(member)
    return string.sub(member, WIDTH + 1)
end

-- Whether a text sorts before another text by its bytes, as in sorted sets.
local function precedes(one, other)
    for place = 1, math.min(#one, #other) do
        local left, right = string.byte(one, place), string.byte(other, place)
        if left ~= right then
            return left < right
        end
    end
    return #one < #other
end

local function is_alive(session)
    local lease = redis.call("HGET", key("leases"), session)
    return lease and lease > now
end
