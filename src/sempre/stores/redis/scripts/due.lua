-- needs: base known rows switches views lanes
-- Return due rows of schedules and rows with limits, with their views, including rejected rows, without held rows.
local wanted, switches, lanes = wanted_work(), switches_off(), {}
add_planned(lanes, wanted, switches)
return { now, candidates(due(lanes, wanted), switches) }
