-- needs: base known rows switches views lanes
-- Rows of schedules that are due, with their views: what is rejected too, but not what is held.
local wanted, switches, lanes = wanted_work(), switches_off(), {}
add_lanes(lanes, "slots", wanted, of_mode(switches, "hold"))
add_lanes(lanes, "manual", wanted, {})
return { now, candidates(due(lanes, wanted), switches) }
