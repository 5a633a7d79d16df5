-- needs: base known rows switches lanes
-- When the next row is due that is not yet so.
return { now, next_due_at(wanted_work(), now) }
