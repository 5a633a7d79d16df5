-- needs: base known rows switches lanes
-- Return when the first wanted row is due after an instant, in the past or in the future.
local wanted = wanted_work()
return { now, next_due_at(wanted, argument()) }
