-- Counts of purged executions by kind, for statements of a month; kind is empty in counts of an older
-- release, which counted executions of any kind together. Ranges of slots outlive executions: they
-- are purged by ranges_last alone.
ALTER TABLE {rollups}
    ADD COLUMN IF NOT EXISTS kind varchar(40) NOT NULL DEFAULT '' AFTER state,
    DROP PRIMARY KEY,
    ADD PRIMARY KEY (schedule_id, day, state, kind);
