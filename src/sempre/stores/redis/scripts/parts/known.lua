-- A store that is not set up, or not any more, is left alone.
if redis.call("EXISTS", key("meta")) == 0 then
    return redis.error_reply("GONE")
end
