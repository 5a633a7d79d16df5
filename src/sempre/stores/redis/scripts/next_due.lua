-- needs: base known rows switches lanes
-- Return when the next wanted row is due, of those that are not due yet.
return { now, next_due_at(wanted_work(), now) }
