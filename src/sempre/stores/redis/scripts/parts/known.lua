-- Refuse to read or write a store that is not set up, or no longer set up.
if redis.call("EXISTS", key("meta")) == 0 then
    return redis.error_reply("GONE")
end
