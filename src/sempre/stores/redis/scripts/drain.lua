-- needs: base known
-- Ask workers to finish their runs and to stop; return 1 for each session that exists.
local found = {}
for place, id in ipairs(list()) do
    found[place] = redis.call("HEXISTS", key("sessions"), id)
    if found[place] == 1 then
        redis.call("SADD", key("draining"), id)
    end
end
return found
