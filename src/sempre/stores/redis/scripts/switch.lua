-- needs: base known rows switches actions
-- Turn a switch off, or on again; return the switches that are off.
local name, off, values = argument(), argument() == "1", fields()
if off then
    for field, value in pairs(values) do
        redis.call("HSET", key("switch", name), field, value)
    end
    redis.call("ZADD", key("switches"), 0, name)
else
    turn_on(name)
end
record_action(read_action())
return { now, switches_off() }
