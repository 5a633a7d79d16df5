-- Counts of purged executions by kind, for statements of a month; kind is empty in counts of an older
-- release, which counted executions of any kind together. Ranges of slots outlive executions: they
-- are purged by ranges_last alone.

-- SQLite has no other way to change a primary key.
ALTER TABLE {rollups} ADD COLUMN kind TEXT NOT NULL DEFAULT '';
CREATE TABLE {prefix}rollups_by_kind (
    schedule_id TEXT NOT NULL,
    day TEXT NOT NULL,
    state TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT '',
    executions INTEGER NOT NULL,
    microseconds INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, day, state, kind)
) WITHOUT ROWID;
INSERT INTO {prefix}rollups_by_kind (schedule_id, day, state, kind, executions, microseconds)
SELECT schedule_id, day, state, kind, executions, microseconds FROM {rollups};
DROP TABLE {rollups};
ALTER TABLE {prefix}rollups_by_kind RENAME TO {rollups};
