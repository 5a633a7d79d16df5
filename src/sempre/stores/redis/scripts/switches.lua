-- needs: base known rows switches
-- Return the switches that are off. The next call of switches_off ends expired switches.
local switches = known_switches()
for _, switch in ipairs(switches) do
    table.insert(switch, redis.call("HGET", key("rejections"), switch[1]) or "0")
end
return { now, switches }
