-- needs: base known rows switches lanes
-- The ids of rows of schedules and rows with limits that are due, or become due within a time.
local wanted, switches, lanes = wanted_work(), switches_off(), {}
wanted.latest = later(number() - wanted.overdue)
add_planned(lanes, wanted, switches)
return { now, due(lanes, wanted) }
