-- Everything the store keeps. Instants are microseconds since 1970, flags 0 or 1, JSON is text.

-- One row: which store this is, and the last fence that was given.
CREATE TABLE IF NOT EXISTS {meta} (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    uuid TEXT NOT NULL,
    fence INTEGER NOT NULL
);

-- live_name is the name until the schedule is deleted. audit_stamp leads maintenance to what may
-- be wrong: NULL where nothing can be, an empty text where the next row is missing, and otherwise
-- the version of the zones by which the next row was computed.
CREATE TABLE IF NOT EXISTS {schedules} (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    live_name TEXT,
    folded_name TEXT NOT NULL,
    job TEXT NOT NULL,
    tags TEXT NOT NULL,
    definition TEXT NOT NULL,
    args TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    cursor_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    started INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    paused INTEGER NOT NULL,
    paused_until INTEGER,
    pause_note TEXT NOT NULL,
    pause_actor TEXT NOT NULL,
    broken TEXT NOT NULL,
    ended INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    next_run_at INTEGER,
    declared TEXT NOT NULL,
    audit_stamp TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS {prefix}schedules_live_name ON {schedules} (live_name);
CREATE INDEX IF NOT EXISTS {prefix}schedules_audit ON {schedules} (audit_stamp, id)
    WHERE audit_stamp IS NOT NULL;

-- What the executions of a schedule run, once for each of its revisions.
CREATE TABLE IF NOT EXISTS {snapshots} (
    schedule_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    rules TEXT NOT NULL,
    args TEXT NOT NULL,
    PRIMARY KEY (schedule_id, revision)
) WITHOUT ROWID;

-- rules and args are those of one-off work; executions of schedules refer to a snapshot. lane is
-- the queue, apart for schedules, manual and one-off work; ended_at is set in states that are an end.
-- unique_key, mode and period are what one-off work was put in with.
CREATE TABLE IF NOT EXISTS {executions} (
    id TEXT NOT NULL PRIMARY KEY,
    schedule_id TEXT,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    run_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    job TEXT NOT NULL,
    queue TEXT NOT NULL,
    lane TEXT NOT NULL,
    priority INTEGER NOT NULL,
    rules TEXT,
    args TEXT,
    reason TEXT NOT NULL,
    actor TEXT NOT NULL,
    tzdata TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    first_started_at INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    ended_at INTEGER,
    fence INTEGER NOT NULL,
    session TEXT NOT NULL,
    held_by TEXT NOT NULL,
    unique_key TEXT,
    unique_mode TEXT,
    unique_period INTEGER
);
-- The two that arbitrate: one row per slot, one active backfill per slot.
CREATE UNIQUE INDEX IF NOT EXISTS {prefix}executions_slot ON {executions} (schedule_id, run_at)
    WHERE kind = 'scheduled' AND state <> 'superseded';
CREATE UNIQUE INDEX IF NOT EXISTS {prefix}executions_backfill ON {executions} (schedule_id, run_at)
    WHERE kind = 'backfill' AND state IN ('pending', 'scheduled', 'running');
CREATE INDEX IF NOT EXISTS {prefix}executions_lane ON {executions} (lane, priority, due_at, id)
    WHERE state IN ('pending', 'scheduled') AND held_by = '';
CREATE INDEX IF NOT EXISTS {prefix}executions_unrung ON {executions} (due_at, id)
    WHERE state = 'pending' AND held_by = '';
CREATE INDEX IF NOT EXISTS {prefix}executions_running ON {executions} (session, id) WHERE state = 'running';
CREATE INDEX IF NOT EXISTS {prefix}executions_active ON {executions} (schedule_id, due_at)
    WHERE schedule_id IS NOT NULL AND state IN ('pending', 'scheduled', 'running');
CREATE INDEX IF NOT EXISTS {prefix}executions_held ON {executions} (held_by) WHERE held_by <> '';
CREATE INDEX IF NOT EXISTS {prefix}executions_keyed ON {executions} (unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('pending', 'scheduled', 'running');
CREATE INDEX IF NOT EXISTS {prefix}executions_finished ON {executions} (schedule_id, finished_at)
    WHERE schedule_id IS NOT NULL AND finished_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS {prefix}executions_ended ON {executions} (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS {prefix}executions_of_schedule ON {executions} (schedule_id, run_at, id, revision)
    WHERE schedule_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS {prefix}executions_of_job ON {executions} (job, run_at, id);

-- Every try at an execution; number keeps their order. ending tells who ended it: settled by its own
-- worker, lost to somebody else, or late, when the execution was no longer that worker's; an orphan
-- was so late that the execution itself was gone.
CREATE TABLE IF NOT EXISTS {attempts} (
    number INTEGER PRIMARY KEY,
    execution_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    session TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    result TEXT NOT NULL,
    error TEXT NOT NULL,
    ending TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS {prefix}attempts_once ON {attempts} (execution_id, fence, ending);
CREATE INDEX IF NOT EXISTS {prefix}attempts_orphans ON {attempts} (finished_at, number)
    WHERE ending = 'orphan';

-- Stretches of slots that passed without a row.
CREATE TABLE IF NOT EXISTS {ranges} (
    number INTEGER PRIMARY KEY,
    schedule_id TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    slots INTEGER NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS {prefix}ranges_of_schedule ON {ranges} (schedule_id, first_at);
CREATE INDEX IF NOT EXISTS {prefix}ranges_last ON {ranges} (last_at, number);

-- The newest execution of each unique key, and how many failed in a row before it. Two who want the same key queue up for its row.
CREATE TABLE IF NOT EXISTS {unique_keys} (
    unique_key TEXT NOT NULL PRIMARY KEY,
    execution_id TEXT NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS {prefix}unique_keys_holder ON {unique_keys} (execution_id);

-- How far a run had come when its worker last told of it.
CREATE TABLE IF NOT EXISTS {reports} (
    execution_id TEXT NOT NULL PRIMARY KEY,
    fence INTEGER NOT NULL,
    told_at INTEGER NOT NULL,
    report TEXT NOT NULL
) WITHOUT ROWID;

-- Running executions that somebody wants to end, and the attempt that is meant by its fence.
CREATE TABLE IF NOT EXISTS {cancellations} (
    execution_id TEXT NOT NULL PRIMARY KEY,
    fence INTEGER NOT NULL,
    actor TEXT NOT NULL,
    asked_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS {sessions} (
    id TEXT NOT NULL PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    queues TEXT NOT NULL,
    jobs TEXT NOT NULL,
    tzdata TEXT NOT NULL,
    release_number INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    leased_until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS {switches} (
    name TEXT NOT NULL PRIMARY KEY,
    target TEXT NOT NULL,
    mode TEXT NOT NULL,
    reason TEXT NOT NULL,
    actor TEXT NOT NULL,
    until_at INTEGER
) WITHOUT ROWID;

-- How much work each switch has refused; apart, since those who go by the switches share them.
CREATE TABLE IF NOT EXISTS {rejections} (
    name TEXT NOT NULL PRIMARY KEY,
    refused INTEGER NOT NULL
) WITHOUT ROWID;

-- One row at most: the maintenance pass.
CREATE TABLE IF NOT EXISTS {passes} (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    due_at INTEGER NOT NULL,
    holder TEXT NOT NULL,
    finished_at INTEGER,
    report TEXT NOT NULL
);

-- What is left of executions that were purged.
CREATE TABLE IF NOT EXISTS {rollups} (
    schedule_id TEXT NOT NULL,
    day TEXT NOT NULL,
    state TEXT NOT NULL,
    executions INTEGER NOT NULL,
    microseconds INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, day, state)
) WITHOUT ROWID;
