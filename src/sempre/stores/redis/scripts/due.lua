-- needs: base known rows switches views lanes
-- Return due rows of schedules with their views, including rejected rows, without held rows.
local wanted, switches, lanes = wanted_work(), switches_off(), {}
add_lanes(lanes, "slots", wanted, of_mode(switches, "hold"))
add_lanes(lanes, "manual", wanted, {})
return { now, candidates(due(lanes, wanted), switches) }
