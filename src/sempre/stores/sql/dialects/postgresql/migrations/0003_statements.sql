-- Counts of purged executions by kind, for statements of a month; kind is empty in counts of an older
-- release, which counted executions of any kind together. Ranges of slots outlive executions: they
-- are purged by ranges_last alone.
ALTER TABLE {rollups} ADD COLUMN IF NOT EXISTS kind text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE {rollups} DROP CONSTRAINT IF EXISTS {prefix}rollups_pkey;
ALTER TABLE {rollups} ADD CONSTRAINT {prefix}rollups_pkey
    PRIMARY KEY (schedule_id, day, state, kind);
