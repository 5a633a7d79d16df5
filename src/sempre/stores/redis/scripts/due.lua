-- needs: base rows views switches lanes
-- Rows of schedules that are due, with their views.
local wanted = wanted_work()
local ids = due("slots", wanted, switches_off())
return { now, candidates(ids) }
