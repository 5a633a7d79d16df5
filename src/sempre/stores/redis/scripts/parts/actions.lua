-- The log of actions: a hash of texts by id, the ids in order, the ids of each target, and the ids by
-- age for the purge.

-- The id, target and text of an action; the id is empty for an operation without an action.
local function read_action()
    return { id = argument(), target = argument(), text = argument() }
end

-- Add an action to the log, at an instant or now; an action of a known id stays as it is. Return
-- whether the action was added.
local function record_action(action, instant)
    local when = instant or now
    if action.id == "" or redis.call("HEXISTS", key("actions"), action.id) == 1 then
        return false
    end
    redis.call("HSET", key("actions"), action.id, when .. #action.target .. " " .. action.target
        .. action.text)
    redis.call("ZADD", key("action-ids"), 0, action.id)
    redis.call("ZADD", key("action-ids", action.target), 0, action.id)
    redis.call("ZADD", key("action-times"), 0, when .. action.id)
    return true
end
