-- needs: base known rows switches lanes
-- The ids of rows of schedules that are due, or become due within a time.
local wanted, switches, lanes = wanted_work(), switches_off(), {}
wanted.latest = later(number() - wanted.overdue)
add_lanes(lanes, "slots", wanted, of_mode(switches, "hold"))
add_lanes(lanes, "manual", wanted, {})
return { now, due(lanes, wanted) }
