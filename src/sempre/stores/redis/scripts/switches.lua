-- needs: base known rows switches
-- The switches that are off; one whose time is over is ended by the next script that goes by it.
local switches = known_switches()
for _, switch in ipairs(switches) do
    table.insert(switch, redis.call("HGET", key("rejections"), switch[1]) or "0")
end
return { now, switches }
