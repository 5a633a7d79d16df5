-- needs: base rows switches
-- The switches that are off; one whose time is over is ended by the next script that goes by it.
return { now, (known_switches()) }
