-- needs: base rows views
-- Executions with their views.
return { now, candidates(list()) }
