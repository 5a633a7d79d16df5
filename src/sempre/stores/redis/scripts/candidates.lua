-- needs: base known rows switches views
-- Executions with their views.
return { now, candidates(list(), switches_off()) }
