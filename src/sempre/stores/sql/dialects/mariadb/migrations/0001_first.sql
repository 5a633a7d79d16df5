-- Everything the store keeps. Instants are microseconds since 1970, flags 0 or 1, JSON is text.
-- MariaDB commits after each of these statements, so each must be safe to repeat: a set-up that
-- was interrupted begins again. Texts are compared byte by byte, spaces at their ends included.

-- The fences: a sequence, so that those who claim at once do not wait for each other.
CREATE SEQUENCE IF NOT EXISTS {fences} ENGINE = InnoDB;

-- One row: which store this is. The fence in it is not used here; whoever turns a switch locks
-- the row, and those who go by the switches share the lock.
CREATE TABLE IF NOT EXISTS {meta} (
    id bigint PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL,
    uuid varchar(40) NOT NULL,
    fence bigint NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- live_name is the name until the schedule is deleted. audit_stamp leads maintenance to what may
-- be wrong: NULL where nothing can be, an empty text where the next row is missing, and otherwise
-- the version of the zones by which the next row was computed.
CREATE TABLE IF NOT EXISTS {schedules} (
    id varchar(255) NOT NULL PRIMARY KEY,
    name varchar(255) NOT NULL,
    live_name varchar(255),
    folded_name mediumtext NOT NULL,
    job varchar(255) NOT NULL,
    tags mediumtext NOT NULL,
    definition mediumtext NOT NULL,
    args mediumtext NOT NULL,
    created_at bigint NOT NULL,
    cursor_at bigint NOT NULL,
    revision bigint NOT NULL,
    starts bigint NOT NULL,
    started bigint NOT NULL,
    enabled bigint NOT NULL,
    paused bigint NOT NULL,
    paused_until bigint,
    pause_note mediumtext NOT NULL,
    pause_actor mediumtext NOT NULL,
    broken mediumtext NOT NULL,
    ended bigint NOT NULL,
    deleted bigint NOT NULL,
    next_run_at bigint,
    declared mediumtext NOT NULL,
    audit_stamp varchar(255),
    UNIQUE INDEX {prefix}schedules_live_name (live_name),
    INDEX {prefix}schedules_audit (audit_stamp, id)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- What the executions of a schedule run, once for each of its revisions.
CREATE TABLE IF NOT EXISTS {snapshots} (
    schedule_id varchar(255) NOT NULL,
    revision bigint NOT NULL,
    rules mediumtext NOT NULL,
    args mediumtext NOT NULL,
    PRIMARY KEY (schedule_id, revision)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- rules and args are those of one-off work; executions of schedules refer to a snapshot. lane is
-- the queue, apart for schedules, manual and one-off work; ended_at is set in states that are an end.
-- unique_key, mode and period are what one-off work was put in with.
-- The last columns are for indexes: each is NULL in rows that its index leaves out. Two of these
-- indexes arbitrate: one row per slot, one active backfill per slot.
CREATE TABLE IF NOT EXISTS {executions} (
    id varchar(255) NOT NULL PRIMARY KEY,
    schedule_id varchar(255),
    name varchar(255) NOT NULL,
    revision bigint NOT NULL,
    kind varchar(40) NOT NULL,
    state varchar(40) NOT NULL,
    run_at bigint NOT NULL,
    due_at bigint NOT NULL,
    job varchar(255) NOT NULL,
    queue varchar(255) NOT NULL,
    lane varchar(255) NOT NULL,
    priority bigint NOT NULL,
    rules mediumtext,
    args mediumtext,
    reason mediumtext NOT NULL,
    actor mediumtext NOT NULL,
    tzdata mediumtext NOT NULL,
    created_at bigint NOT NULL,
    attempt bigint NOT NULL,
    failures bigint NOT NULL,
    crashes bigint NOT NULL,
    first_started_at bigint,
    started_at bigint,
    finished_at bigint,
    ended_at bigint,
    fence bigint NOT NULL,
    session varchar(255) NOT NULL,
    held_by varchar(255) NOT NULL,
    unique_key varchar(500),
    unique_mode varchar(40),
    unique_period bigint,
    slot_at bigint AS (CASE WHEN kind = 'scheduled' AND state <> 'superseded' THEN run_at END)
        STORED,
    backfill_at bigint AS (
        CASE WHEN kind = 'backfill' AND state IN ('pending', 'scheduled', 'running') THEN run_at END
    ) STORED,
    waiting_lane varchar(255) AS (
        CASE WHEN state IN ('pending', 'scheduled') AND held_by = '' THEN lane END
    ) STORED,
    unrung_at bigint AS (CASE WHEN state = 'pending' AND held_by = '' THEN due_at END) STORED,
    running_session varchar(255) AS (CASE WHEN state = 'running' THEN session END) STORED,
    active_of varchar(255) AS (
        CASE WHEN state IN ('pending', 'scheduled', 'running') THEN schedule_id END
    ) STORED,
    active_key varchar(500) AS (
        CASE WHEN state IN ('pending', 'scheduled', 'running') THEN unique_key END
    ) STORED,
    UNIQUE INDEX {prefix}executions_slot (schedule_id, slot_at),
    UNIQUE INDEX {prefix}executions_backfill (schedule_id, backfill_at),
    INDEX {prefix}executions_lane (waiting_lane, priority, due_at, id),
    INDEX {prefix}executions_unrung (unrung_at, id),
    INDEX {prefix}executions_running (running_session, id),
    INDEX {prefix}executions_active (active_of, due_at),
    INDEX {prefix}executions_held (held_by),
    INDEX {prefix}executions_keyed (active_key),
    INDEX {prefix}executions_finished (schedule_id, finished_at),
    INDEX {prefix}executions_ended (ended_at, id),
    INDEX {prefix}executions_history (run_at, id),
    INDEX {prefix}executions_of_schedule (schedule_id, run_at, id, revision),
    INDEX {prefix}executions_of_job (job, run_at, id)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Every try at an execution; number keeps their order. ending tells who ended it: settled by its own
-- worker, lost to somebody else, or late, when the execution was no longer that worker's; an orphan
-- was so late that the execution itself was gone.
CREATE TABLE IF NOT EXISTS {attempts} (
    number bigint AUTO_INCREMENT PRIMARY KEY,
    execution_id varchar(255) NOT NULL,
    fence bigint NOT NULL,
    session varchar(255) NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    state varchar(40) NOT NULL,
    result mediumtext NOT NULL,
    error mediumtext NOT NULL,
    ending varchar(40) NOT NULL,
    orphaned_at bigint AS (CASE WHEN ending = 'orphan' THEN finished_at END) STORED,
    UNIQUE INDEX {prefix}attempts_once (execution_id, fence, ending),
    INDEX {prefix}attempts_orphans (orphaned_at, number)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Stretches of slots that passed without a row.
CREATE TABLE IF NOT EXISTS {ranges} (
    number bigint AUTO_INCREMENT PRIMARY KEY,
    schedule_id varchar(255) NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    slots bigint NOT NULL,
    reason mediumtext NOT NULL,
    INDEX {prefix}ranges_of_schedule (schedule_id, first_at),
    INDEX {prefix}ranges_last (last_at, number)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The newest execution of each unique key, and how many failed in a row before it. Two who want the same key queue up for its row.
CREATE TABLE IF NOT EXISTS {unique_keys} (
    unique_key varchar(500) NOT NULL PRIMARY KEY,
    execution_id varchar(255) NOT NULL,
    failures bigint NOT NULL DEFAULT 0,
    INDEX {prefix}unique_keys_holder (execution_id)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- How far a run had come when its worker last told of it.
CREATE TABLE IF NOT EXISTS {reports} (
    execution_id varchar(255) NOT NULL PRIMARY KEY,
    fence bigint NOT NULL,
    told_at bigint NOT NULL,
    report mediumtext NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Running executions that somebody wants to end, and the attempt that is meant by its fence.
CREATE TABLE IF NOT EXISTS {cancellations} (
    execution_id varchar(255) NOT NULL PRIMARY KEY,
    fence bigint NOT NULL,
    actor mediumtext NOT NULL,
    asked_at bigint NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS {sessions} (
    id varchar(255) NOT NULL PRIMARY KEY,
    host mediumtext NOT NULL,
    pid bigint NOT NULL,
    queues mediumtext NOT NULL,
    jobs mediumtext NOT NULL,
    tzdata mediumtext NOT NULL,
    release_number bigint NOT NULL,
    started_at bigint NOT NULL,
    leased_until bigint NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS {switches} (
    name varchar(255) NOT NULL PRIMARY KEY,
    target varchar(255) NOT NULL,
    mode varchar(40) NOT NULL,
    reason mediumtext NOT NULL,
    actor mediumtext NOT NULL,
    until_at bigint
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- How much work each switch has refused; apart, since those who go by the switches share them.
CREATE TABLE IF NOT EXISTS {rejections} (
    name varchar(255) NOT NULL PRIMARY KEY,
    refused bigint NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- One row at most: the maintenance pass.
CREATE TABLE IF NOT EXISTS {passes} (
    id bigint PRIMARY KEY CHECK (id = 1),
    due_at bigint NOT NULL,
    holder varchar(255) NOT NULL,
    finished_at bigint,
    report mediumtext NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- What is left of executions that were purged.
CREATE TABLE IF NOT EXISTS {rollups} (
    schedule_id varchar(255) NOT NULL,
    day varchar(40) NOT NULL,
    state varchar(40) NOT NULL,
    executions bigint NOT NULL,
    microseconds bigint NOT NULL,
    PRIMARY KEY (schedule_id, day, state)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
