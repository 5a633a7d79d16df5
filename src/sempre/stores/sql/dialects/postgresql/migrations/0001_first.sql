-- Everything the store keeps. Instants are microseconds since 1970, flags 0 or 1, JSON is text.

-- The fences: a sequence, so that those who claim at once do not wait for each other.
CREATE SEQUENCE IF NOT EXISTS {fences};

-- One row: which store this is. The fence in it is not used here.
CREATE TABLE IF NOT EXISTS {meta} (
    id integer PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL,
    uuid text COLLATE "C" NOT NULL,
    fence bigint NOT NULL
);

-- live_name is the name until the schedule is deleted. audit_stamp leads maintenance to what may
-- be wrong: NULL where nothing can be, an empty text where the next row is missing, and otherwise
-- the version of the zones by which the next row was computed. Every claim moves a schedule on; with
-- room beside it in its page, no index has to be told.
CREATE TABLE IF NOT EXISTS {schedules} (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    live_name text COLLATE "C",
    folded_name text COLLATE "C" NOT NULL,
    job text COLLATE "C" NOT NULL,
    tags text COLLATE "C" NOT NULL,
    definition text COLLATE "C" NOT NULL,
    args text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    cursor_at bigint NOT NULL,
    revision bigint NOT NULL,
    starts bigint NOT NULL,
    started bigint NOT NULL,
    enabled bigint NOT NULL,
    paused bigint NOT NULL,
    paused_until bigint,
    pause_note text COLLATE "C" NOT NULL,
    pause_actor text COLLATE "C" NOT NULL,
    broken text COLLATE "C" NOT NULL,
    ended bigint NOT NULL,
    deleted bigint NOT NULL,
    next_run_at bigint,
    declared text COLLATE "C" NOT NULL,
    audit_stamp text COLLATE "C"
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX IF NOT EXISTS {prefix}schedules_live_name ON {schedules} (live_name);
CREATE INDEX IF NOT EXISTS {prefix}schedules_audit ON {schedules} (audit_stamp, id)
    WHERE audit_stamp IS NOT NULL;

-- What the executions of a schedule run, once for each of its revisions.
CREATE TABLE IF NOT EXISTS {snapshots} (
    schedule_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    rules text COLLATE "C" NOT NULL,
    args text COLLATE "C" NOT NULL,
    PRIMARY KEY (schedule_id, revision)
);

-- rules and args are those of one-off work; executions of schedules refer to a snapshot. lane is
-- the queue, apart for schedules, manual and one-off work; ended_at is set in states that are an end.
-- unique_key, mode and period are what one-off work was put in with. Every start and end writes an
-- execution anew, and so its place in each index: those that hold it all its life leave room for that.
CREATE TABLE IF NOT EXISTS {executions} (
    id text COLLATE "C" NOT NULL PRIMARY KEY WITH (fillfactor = 60),
    schedule_id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    run_at bigint NOT NULL,
    due_at bigint NOT NULL,
    job text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL,
    priority bigint NOT NULL,
    rules text COLLATE "C",
    args text COLLATE "C",
    reason text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    tzdata text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    attempt bigint NOT NULL,
    failures bigint NOT NULL,
    crashes bigint NOT NULL,
    first_started_at bigint,
    started_at bigint,
    finished_at bigint,
    ended_at bigint,
    fence bigint NOT NULL,
    session text COLLATE "C" NOT NULL,
    held_by text COLLATE "C" NOT NULL,
    unique_key text COLLATE "C",
    unique_mode text COLLATE "C",
    unique_period bigint
);
-- The two that arbitrate: one row per slot, one active backfill per slot.
CREATE UNIQUE INDEX IF NOT EXISTS {prefix}executions_slot ON {executions} (schedule_id, run_at)
    WITH (fillfactor = 60) WHERE kind = 'scheduled' AND state <> 'superseded';
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
CREATE INDEX IF NOT EXISTS {prefix}executions_ended ON {executions} (ended_at) WHERE ended_at IS NOT NULL;
-- History is put together: of a schedule from its slots and from all else, of a job from what runs and
-- from all else. So a slot is in one index by schedule, and a start writes none by job.
CREATE INDEX IF NOT EXISTS {prefix}executions_of_schedule ON {executions} (schedule_id, run_at, id, revision)
    WHERE schedule_id IS NOT NULL AND (kind <> 'scheduled' OR state = 'superseded');
CREATE INDEX IF NOT EXISTS {prefix}executions_of_job ON {executions} (job, run_at, id)
    WITH (fillfactor = 60) WHERE state <> 'running';

-- Every try at an execution; number keeps their order. ending tells who ended it: settled by its own
-- worker, lost to somebody else, or late, when the execution was no longer that worker's; an orphan
-- was so late that the execution itself was gone.
CREATE TABLE IF NOT EXISTS {attempts} (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    execution_id text COLLATE "C" NOT NULL,
    fence bigint NOT NULL,
    session text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    result text COLLATE "C" NOT NULL,
    error text COLLATE "C" NOT NULL,
    ending text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS {prefix}attempts_once ON {attempts} (execution_id, fence, ending);
CREATE INDEX IF NOT EXISTS {prefix}attempts_orphans ON {attempts} (finished_at, number)
    WHERE ending = 'orphan';

-- Stretches of slots that passed without a row.
CREATE TABLE IF NOT EXISTS {ranges} (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_id text COLLATE "C" NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    slots bigint NOT NULL,
    reason text COLLATE "C" NOT NULL
);
CREATE INDEX IF NOT EXISTS {prefix}ranges_of_schedule ON {ranges} (schedule_id, first_at);
CREATE INDEX IF NOT EXISTS {prefix}ranges_last ON {ranges} (last_at, number);

-- The newest execution of each unique key, and how many failed in a row before it. Two who want the same key queue up for its row.
CREATE TABLE IF NOT EXISTS {unique_keys} (
    unique_key text COLLATE "C" NOT NULL PRIMARY KEY,
    execution_id text COLLATE "C" NOT NULL,
    failures bigint NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS {prefix}unique_keys_holder ON {unique_keys} (execution_id);

-- How far a run had come when its worker last told of it.
CREATE TABLE IF NOT EXISTS {reports} (
    execution_id text COLLATE "C" NOT NULL PRIMARY KEY,
    fence bigint NOT NULL,
    told_at bigint NOT NULL,
    report text COLLATE "C" NOT NULL
);

-- Running executions that somebody wants to end, and the attempt that is meant by its fence.
CREATE TABLE IF NOT EXISTS {cancellations} (
    execution_id text COLLATE "C" NOT NULL PRIMARY KEY,
    fence bigint NOT NULL,
    actor text COLLATE "C" NOT NULL,
    asked_at bigint NOT NULL
);

CREATE TABLE IF NOT EXISTS {sessions} (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    host text COLLATE "C" NOT NULL,
    pid bigint NOT NULL,
    queues text COLLATE "C" NOT NULL,
    jobs text COLLATE "C" NOT NULL,
    tzdata text COLLATE "C" NOT NULL,
    release_number bigint NOT NULL,
    started_at bigint NOT NULL,
    leased_until bigint NOT NULL
);

CREATE TABLE IF NOT EXISTS {switches} (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    target text COLLATE "C" NOT NULL,
    mode text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    until_at bigint
);

-- How much work each switch has refused; apart, since those who go by the switches share them.
CREATE TABLE IF NOT EXISTS {rejections} (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    refused bigint NOT NULL
);

-- One row at most: the maintenance pass.
CREATE TABLE IF NOT EXISTS {passes} (
    id integer PRIMARY KEY CHECK (id = 1),
    due_at bigint NOT NULL,
    holder text COLLATE "C" NOT NULL,
    finished_at bigint,
    report text COLLATE "C" NOT NULL
);

-- What is left of executions that were purged.
CREATE TABLE IF NOT EXISTS {rollups} (
    schedule_id text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    executions bigint NOT NULL,
    microseconds bigint NOT NULL,
    PRIMARY KEY (schedule_id, day, state)
);
