-- What operators need: retries, limits over the fleet, logs of runs, and the log of actions.

-- retried_at is set when an operator retries an ended execution. limit_key and rate_key are the keys
-- of its limits; empty without a limit. limit_place is for the index: NULL unless the row has a limit
-- and runs, or waits and is not held.
ALTER TABLE {executions}
    ADD COLUMN IF NOT EXISTS retried_at bigint,
    ADD COLUMN IF NOT EXISTS limit_key varchar(500) NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS rate_key varchar(500) NOT NULL DEFAULT '';
ALTER TABLE {executions}
    ADD COLUMN IF NOT EXISTS limit_place varchar(500) AS (
        CASE
            WHEN limit_key <> '' AND state = 'running' THEN CONCAT('runs ', limit_key)
            WHEN CONCAT(limit_key, rate_key) <> '' AND state IN ('pending', 'scheduled')
                AND held_by = ''
            THEN CONCAT('waits ', CASE WHEN limit_key <> '' THEN limit_key ELSE rate_key END)
        END
    ) STORED;
CREATE INDEX IF NOT EXISTS {prefix}executions_limited ON {executions} (limit_place, due_at, id);
-- With the order in which a limit frees executions.
CREATE INDEX IF NOT EXISTS {prefix}executions_parked ON {executions} (held_by, priority, run_at, id);
DROP INDEX IF EXISTS {prefix}executions_held ON {executions};

-- The failures of each job, newest last. failed_job is for the index: NULL unless the row failed.
ALTER TABLE {executions}
    ADD COLUMN IF NOT EXISTS failed_job varchar(255) AS (
        CASE WHEN state = 'failed' THEN job END
    ) STORED;
CREATE INDEX IF NOT EXISTS {prefix}executions_failed ON {executions} (failed_job, ended_at, id);

-- The retention of schedules that have one of their own; how many executions each keeps at any age.
ALTER TABLE {schedules}
    ADD COLUMN IF NOT EXISTS retention bigint,
    ADD COLUMN IF NOT EXISTS keep bigint NOT NULL DEFAULT 100;
CREATE INDEX IF NOT EXISTS {prefix}schedules_retention ON {schedules} (retention);

-- draining is 1 after an operator has asked the worker to stop.
ALTER TABLE {sessions} ADD COLUMN IF NOT EXISTS draining bigint NOT NULL DEFAULT 0;

-- A row for each limit that claims have used. Claims of one limit lock its row. period is the longest
-- period of a rate; used_at is when a claim last locked the row.
CREATE TABLE IF NOT EXISTS {limits} (
    limit_key varchar(500) NOT NULL PRIMARY KEY,
    period bigint NOT NULL,
    used_at bigint NOT NULL,
    INDEX {prefix}limits_used (used_at, limit_key)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The recent starts under each rate limit.
CREATE TABLE IF NOT EXISTS {limit_starts} (
    limit_key varchar(500) NOT NULL,
    started_at bigint NOT NULL,
    fence bigint NOT NULL,
    PRIMARY KEY (limit_key, started_at, fence),
    INDEX {prefix}limit_starts_age (started_at)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The log of each run: what its job wrote by logging.
CREATE TABLE IF NOT EXISTS {run_logs} (
    execution_id varchar(255) NOT NULL,
    fence bigint NOT NULL,
    written_at bigint NOT NULL,
    log mediumtext NOT NULL,
    PRIMARY KEY (execution_id, fence)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The log of actions: what operators did, with the state before and after, as JSON.
CREATE TABLE IF NOT EXISTS {actions} (
    id varchar(255) NOT NULL PRIMARY KEY,
    at bigint NOT NULL,
    actor mediumtext NOT NULL,
    verb varchar(40) NOT NULL,
    target varchar(300) NOT NULL,
    note mediumtext NOT NULL,
    state_before mediumtext NOT NULL,
    state_after mediumtext NOT NULL,
    INDEX {prefix}actions_target (target, id),
    INDEX {prefix}actions_at (at, id)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
