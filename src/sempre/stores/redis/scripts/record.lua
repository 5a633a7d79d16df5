-- needs: base known actions
-- Add actions to the log.
for _ = 1, number() do
    record_action(read_action())
end
return 1
