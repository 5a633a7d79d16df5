-- What operators need: retries, limits over the fleet, logs of runs, and the log of actions.

-- retried_at is set when an operator retries an ended execution. limit_key and rate_key are the keys
-- of its limits; empty without a limit.
ALTER TABLE {executions} ADD COLUMN retried_at INTEGER;
ALTER TABLE {executions} ADD COLUMN limit_key TEXT NOT NULL DEFAULT '';
ALTER TABLE {executions} ADD COLUMN rate_key TEXT NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS {prefix}executions_limited ON {executions} (limit_key)
    WHERE limit_key <> '' AND state = 'running';
CREATE INDEX IF NOT EXISTS {prefix}executions_limit_waits ON {executions}
    (CASE WHEN limit_key <> '' THEN limit_key ELSE rate_key END, due_at, id)
    WHERE limit_key || rate_key <> '' AND state IN ('pending', 'scheduled') AND held_by = '';
CREATE INDEX IF NOT EXISTS {prefix}executions_parked ON {executions} (held_by, priority, run_at, id)
    WHERE held_by <> '' AND state IN ('pending', 'scheduled');

-- The failures of each job, newest last.
CREATE INDEX IF NOT EXISTS {prefix}executions_failed ON {executions} (job, ended_at, id)
    WHERE state = 'failed';

-- The retention of schedules that have one of their own; how many executions each keeps at any age.
ALTER TABLE {schedules} ADD COLUMN retention INTEGER;
ALTER TABLE {schedules} ADD COLUMN keep INTEGER NOT NULL DEFAULT 100;
CREATE INDEX IF NOT EXISTS {prefix}schedules_retention ON {schedules} (retention)
    WHERE retention IS NOT NULL;

-- draining is 1 after an operator has asked the worker to stop.
ALTER TABLE {sessions} ADD COLUMN draining INTEGER NOT NULL DEFAULT 0;

-- A row for each limit that claims have used. Claims of one limit lock its row. period is the longest
-- period of a rate; used_at is when a claim last locked the row.
CREATE TABLE IF NOT EXISTS {limits} (
    limit_key TEXT NOT NULL PRIMARY KEY,
    period INTEGER NOT NULL,
    used_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS {prefix}limits_used ON {limits} (used_at, limit_key);

-- The recent starts under each rate limit.
CREATE TABLE IF NOT EXISTS {limit_starts} (
    limit_key TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    PRIMARY KEY (limit_key, started_at, fence)
);
CREATE INDEX IF NOT EXISTS {prefix}limit_starts_age ON {limit_starts} (started_at);

-- The log of each run: what its job wrote by logging.
CREATE TABLE IF NOT EXISTS {run_logs} (
    execution_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    log TEXT NOT NULL,
    PRIMARY KEY (execution_id, fence)
);

-- The log of actions: what operators did, with the state before and after, as JSON.
CREATE TABLE IF NOT EXISTS {actions} (
    id TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    verb TEXT NOT NULL,
    target TEXT NOT NULL,
    note TEXT NOT NULL,
    state_before TEXT NOT NULL,
    state_after TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS {prefix}actions_target ON {actions} (target, id);
CREATE INDEX IF NOT EXISTS {prefix}actions_at ON {actions} (at, id);
