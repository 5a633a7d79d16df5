-- The log of actions: a hash of texts by id, the ids in order, the ids of each target, and the ids by
-- age for the purge.

-- The id, target and text of an action; the id is empty for an operation without an action.
local function read_action()
    return { id = argument(), target = argument(), text = argument() }
end

-- Add an action to the log; an action of a known id stays as it is.
local function record_action(action)
    if action.id == "" or redis.call("HEXISTS", key("actions"), action.id) == 1 then
        return
    end
    redis.call("HSET", key("actions"), action.id, now .. #action.target .. " " .. action.target
        .. action.text)
    redis.call("ZADD", key("action-ids"), 0, action.id)
    redis.call("ZADD", key("action-ids", action.target), 0, action.id)
    redis.call("ZADD", key("action-times"), 0, now .. action.id)
end
