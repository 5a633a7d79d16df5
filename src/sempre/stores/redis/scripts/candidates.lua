-- needs: base known rows switches views
-- Return executions with the views of their schedules.
return { now, candidates(list(), switches_off()) }
