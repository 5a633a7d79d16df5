-- needs: base known rows switches lanes
-- When the first wanted row is due after an instant, by now or later.
local wanted = wanted_work()
return { now, next_due_at(wanted, argument()) }
