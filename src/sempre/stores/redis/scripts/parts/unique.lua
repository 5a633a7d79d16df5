-- Unique keys: which execution holds a key, and which execution it blocks. The hash `unique` has
-- the newest execution of a key; the index `keyed` has the waiting and running ones, by age.

-- The execution that blocks another execution of its key; nil if there is none.
local function in_the_way(unique, mode, period, besides)
    if mode == "period" then
        local id = redis.call("HGET", key("unique"), unique)
        local newest = id and id ~= besides and look(id, { "created_at" })
        return newest and newest.created_at > later(-period) and id or nil
    end
    for _, member in ipairs(redis.call("ZREVRANGE", key("keyed", unique), 0, -1)) do
        local id = id_in(member)
        if id ~= besides and (mode == "active" or is_live(look(id, { "state" }))) then
            return id
        end
    end
    return nil
end

-- How many executions of a key failed in a row; if the newest one failed, also its id and when it
-- failed.
local function failures_before(unique)
    local id = redis.call("HGET", key("unique"), unique)
    local newest = id and look(id, { "state", "finished_at" })
    if not newest then
        return 0
    end
    local before = tonumber(redis.call("HGET", key("streaks"), unique) or 0)
    if newest.state == "failed" then
        return before + 1, id, newest.finished_at
    end
    return (is_live(newest) or newest.state == "running") and before or 0
end

local function note_failures(unique, failures)
    if failures > 0 then
        redis.call("HSET", key("streaks"), unique, failures)
    else
        redis.call("HDEL", key("streaks"), unique)
    end
end

-- Until when work is refused after failures in a row: the wait doubles each time, up to a cap.
local function backed_off(failed_at, failures, base, cap)
    local wait = math.min(cap, base * 2 ^ math.min(failures - 1, 60))
    local microseconds = tonumber(string.sub(failed_at, 14)) + wait
    local seconds = math.floor(microseconds / 1000000)
    local rest = microseconds - seconds * 1000000
    return string.format("1%012d%06d", seconds_of(failed_at) + seconds, rest)
end

-- The execution that blocks a row from waiting again; nil if the row has no key, or its key is free.
local function blocker_of(id)
    local row = look(id, { "unique", "unique_mode", "unique_period" })
    if not row or row.unique == "" then
        return nil
    end
    return in_the_way(row.unique, row.unique_mode, tonumber(row.unique_period), id)
end

-- Whether an order retries an ended execution whose key another execution holds.
local function is_key_taken(order)
    for _, change in ipairs(order.changes) do
        local has_ended = change.state ~= "running" and not is_live(change)
        if has_ended and is_live(change.after) and blocker_of(change.id) then
            return true
        end
    end
    return false
end

-- Fail an execution instead of retrying it if another execution holds its key. The fields that only
-- a retry would change stay.
local function coalesce(change)
    if change.state ~= "running" or not is_live(change.after) then
        return
    end
    local other = blocker_of(change.id)
    if other then
        local after = change.after
        after.state, after.reason = "failed", "coalesced into " .. other
        after.ended_at = after.finished_at
        after.due_at, after.session = nil, nil
    end
end
