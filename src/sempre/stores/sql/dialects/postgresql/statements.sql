-- Statements in PostgreSQL's own SQL.

-- name: each
-- A table with a column `value`: the texts of a JSON array.
json_array_elements_text(CAST(:{1} AS json))

-- name: pairs
-- A table with columns `word` and `number`: the pairs of two arrays, which cost the driver less
-- than one JSON array of pairs.
(
    SELECT
        json_array_elements_text(CAST(:{1}_words AS json)) AS word,
        unnest(CAST(:{1}_numbers AS bigint[])) AS number
)

-- name: documents
-- A table with columns `word` and `document`: the keys and values of a JSON object.
(SELECT key AS word, CAST(value AS text) AS document FROM json_each(CAST(:{1} AS json)))

-- name: position
-- Where text {1} has text {2}, from 1; 0 if nowhere.
strpos({1}, {2})

-- name: due_in_lanes
-- The ids of due rows, up to :limit of each lane.
WITH RECURSIVE {lanes}
SELECT found.id FROM lanes
CROSS JOIN LATERAL (
    SELECT x.id, x.priority, x.due_at FROM {executions} AS x
    WHERE {due_condition:lanes.lane,lanes.priority}
    ORDER BY x.due_at, x.id LIMIT :limit
) AS found
WHERE lanes.priority IS NOT NULL

-- name: free_in_lanes
-- Lock due one-off rows, up to :limit of each lane, without locked rows.
WITH RECURSIVE {lanes}
SELECT {taken_columns} FROM lanes
CROSS JOIN LATERAL (
    SELECT x.* FROM {executions} AS x WHERE {free_condition:x,lanes.lane,lanes.priority}
    ORDER BY x.due_at, x.id LIMIT :limit FOR UPDATE OF x SKIP LOCKED
) AS found
WHERE lanes.priority IS NOT NULL

-- name: due
-- The ids of due rows, most urgent first.
{due_in_lanes} ORDER BY found.priority, found.due_at, found.id LIMIT :limit

-- name: due_to_take
-- Lock due one-off rows, most urgent first.
{free_in_lanes} ORDER BY found.priority, found.due_at, found.id LIMIT :limit

-- name: claim_one_off
-- Start due one-off work in one statement, if the session has its lease and no switch is off. Each
-- row is returned as found, with its fence, the now, and the end of the lease. Rows are updated by
-- their physical place: a row that was changed just before its lock has moved, and is left for the
-- next claim.
WITH RECURSIVE {lanes},
clock AS MATERIALIZED ({now} AS now),
lease AS MATERIALIZED (
    SELECT clock.now, s.leased_until FROM clock
    JOIN {sessions} AS s ON s.id = :session AND s.leased_until > clock.now
    WHERE NOT EXISTS (SELECT 1 FROM {switches})
),
found AS MATERIALIZED (
    SELECT found.*, lease.now, lease.leased_until FROM lease CROSS JOIN lanes
    CROSS JOIN LATERAL (
        SELECT x.*, x.ctid AS place FROM {executions} AS x
        WHERE {waiting_condition:x,lanes.lane,lanes.priority} AND x.due_at <= lease.now
        ORDER BY x.due_at, x.id LIMIT :limit FOR UPDATE OF x SKIP LOCKED
    ) AS found
    WHERE lanes.priority IS NOT NULL
    ORDER BY found.priority, found.due_at, found.id LIMIT :limit
),
begun AS (
    UPDATE {executions} AS e SET
        state = 'running', attempt = e.attempt + 1, reason = '', started_at = found.now,
        session = :session, first_started_at = coalesce(e.first_started_at, found.now),
        fence = nextval('{fences}')
    FROM found WHERE e.ctid = found.place
    RETURNING {taken_columns}, e.fence AS given, found.now, found.leased_until, found.priority
)
SELECT * FROM begun ORDER BY priority, due_at, id

-- name: overdue
-- The ids of due rows, oldest first.
{due_in_lanes} ORDER BY found.due_at, found.id LIMIT :limit

-- name: overdue_to_take
-- Lock due one-off rows, oldest first.
{free_in_lanes} ORDER BY found.due_at, found.id LIMIT :limit

-- name: holds_slot
-- Whether an execution holds its slot: the unique index of slots has these rows by schedule.
x.kind = 'scheduled' AND x.state <> 'superseded'

-- name: holds_none
-- Whether an execution of a schedule holds no slot: another index has these rows.
(x.kind <> 'scheduled' OR x.state = 'superseded')

-- name: history_of_schedule
-- A page of a schedule's executions, newest slot first: rows that hold a slot, and all others. So
-- each row is written into one index by schedule, not into two.
SELECT {row_columns} FROM (
    (
        SELECT x.* FROM {executions} AS x
        WHERE x.schedule_id = :schedule_id AND {holds_slot} AND {beyond:x.run_at,x.id,<,:at,:id}
            AND {history_condition:x} AND (:job = '' OR x.job = :job)
        ORDER BY x.run_at DESC LIMIT :limit
    )
    UNION ALL
    (
        SELECT x.* FROM {executions} AS x
        WHERE x.schedule_id = :schedule_id AND {holds_none} AND {beyond:x.run_at,x.id,<,:at,:id}
            AND {history_condition:x} AND (:job = '' OR x.job = :job)
        ORDER BY x.run_at DESC, x.id DESC LIMIT :limit
    )
) AS e
{row_joins}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_job
-- A page of a job's executions: running rows, and all others. The index by job has only the
-- others, so that a start writes no entry into this index.
SELECT {row_columns} FROM (
    (
        SELECT x.* FROM {executions} AS x
        WHERE x.job = :job AND x.state <> 'running' AND {beyond:x.run_at,x.id,<,:at,:id}
            AND {history_condition:x}
        ORDER BY x.run_at DESC, x.id DESC LIMIT :limit
    )
    UNION ALL
    (
        SELECT x.* FROM {executions} AS x
        WHERE x.state = 'running' AND x.job = :job AND {beyond:x.run_at,x.id,<,:at,:id}
            AND {history_condition:x}
        ORDER BY x.run_at DESC, x.id DESC LIMIT :limit
    )
) AS e
{row_joins}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_all
-- A page of all executions: running rows, and a page of each job.
WITH RECURSIVE {all_jobs}
SELECT {row_columns} FROM (
    SELECT found.* FROM all_jobs
    CROSS JOIN LATERAL (
        SELECT x.* FROM {executions} AS x
        WHERE x.job = all_jobs.job AND x.state <> 'running' AND {beyond:x.run_at,x.id,<,:at,:id}
            AND {history_condition:x}
        ORDER BY x.run_at DESC, x.id DESC LIMIT :limit
    ) AS found
    UNION ALL
    (
        SELECT x.* FROM {executions} AS x
        WHERE x.state = 'running' AND {beyond:x.run_at,x.id,<,:at,:id} AND {history_condition:x}
        ORDER BY x.run_at DESC, x.id DESC LIMIT :limit
    )
) AS e
{row_joins}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: all_jobs
-- The jobs of executions that do not run: one probe of the index each.
all_jobs (job) AS (
    SELECT min(x.job) FROM {executions} AS x WHERE x.state <> 'running'
    UNION ALL
    SELECT (
        SELECT min(x.job) FROM {executions} AS x
        WHERE x.state <> 'running' AND x.job > all_jobs.job
    )
    FROM all_jobs WHERE all_jobs.job IS NOT NULL
)

-- name: latest_rows
-- The newest executions of each of these schedules.
SELECT {row_columns} FROM {each:ids} AS one
CROSS JOIN LATERAL (
    SELECT found.* FROM (
        (
            SELECT x.* FROM {executions} AS x
            WHERE x.schedule_id = one.value AND {holds_slot} ORDER BY x.run_at DESC LIMIT :limit
        )
        UNION ALL
        (
            SELECT x.* FROM {executions} AS x
            WHERE x.schedule_id = one.value AND {holds_none}
            ORDER BY x.run_at DESC, x.id DESC LIMIT :limit
        )
    ) AS found
    ORDER BY found.run_at DESC, found.id DESC LIMIT :limit
) AS e
{row_joins}

-- name: revision_is_unused
-- Whether no execution has a revision, by both indexes of schedules.
(
    SELECT x.id FROM {executions} AS x
    WHERE x.schedule_id = s.schedule_id AND {holds_slot} AND x.revision = s.revision LIMIT 1
) IS NULL
AND (
    SELECT x.id FROM {executions} AS x
    WHERE x.schedule_id = s.schedule_id AND {holds_none} AND x.revision = s.revision LIMIT 1
) IS NULL

-- name: view_rows
-- The executions that planning reads, by probes of an index for each schedule: without statistics,
-- the planner would compare every waiting row with each schedule.
SELECT {row_columns} FROM {each:ids} AS one
CROSS JOIN LATERAL (
    SELECT x.* FROM {executions} AS x
    WHERE x.schedule_id = one.value AND x.state IN ('pending', 'scheduled', 'running') OFFSET 0
) AS e
{row_joins}
UNION ALL
SELECT {row_columns} FROM {each:ids} AS one
JOIN {schedules} AS c ON c.id = one.value
CROSS JOIN LATERAL (
    SELECT x.* FROM {executions} AS x
    WHERE x.schedule_id = c.id AND x.run_at > c.cursor_at
        AND x.kind = 'scheduled' AND x.state <> 'superseded'
        AND x.state NOT IN ('pending', 'scheduled', 'running') OFFSET 0
) AS e
{row_joins}
UNION ALL
SELECT {row_columns} FROM {each:ids} AS one
CROSS JOIN LATERAL (
    SELECT y.due_at FROM {executions} AS y
    WHERE y.schedule_id = one.value AND y.state IN ('pending', 'scheduled', 'running')
        AND y.state IN ('pending', 'scheduled')
    ORDER BY y.due_at LIMIT 1
) AS earliest
CROSS JOIN LATERAL (
    SELECT x.* FROM {executions} AS x
    WHERE x.schedule_id = one.value AND x.finished_at > earliest.due_at
        AND x.state NOT IN ('pending', 'scheduled', 'running') OFFSET 0
) AS e
{row_joins}

-- name: pushed_out
-- Ended executions that finished before an instant of their schedule: pairs of schedule and instant.
SELECT {purged_columns:e} FROM {pairs:bounds} AS one
JOIN {schedules} AS c ON c.id = one.word
CROSS JOIN LATERAL (
    SELECT x.* FROM {executions} AS x
    WHERE x.schedule_id = c.id AND x.finished_at < one.number
        AND x.ended_at IS NOT NULL AND {is_past:x}
    ORDER BY x.finished_at, x.id LIMIT :limit
) AS e

-- name: occupied_slots
-- The executions that hold a slot, or are an active backfill of the slot, at pairs of schedule and
-- instant; one probe for each pair.
SELECT found.id, found.schedule_id, found.run_at, found.kind, found.state,
    coalesce(found.first_started_at, found.retried_at), found.tzdata
FROM {pairs:slots} AS one
CROSS JOIN LATERAL (
    SELECT x.* FROM {executions} AS x
    WHERE x.schedule_id = one.word AND x.run_at = one.number
        AND (
            (x.kind = 'scheduled' AND x.state <> 'superseded')
            OR (x.kind = 'backfill' AND x.state IN ('pending', 'scheduled', 'running'))
        )
    OFFSET 0
) AS found

-- name: start_slots
-- Start slots, move their schedules on and insert the next rows, if each schedule is unchanged, the
-- session has its lease and no switch is off. The last row has the number of moved schedules: if
-- fewer slots started, the transaction must roll back. The unique index checks that the slot of a
-- next row is free.
WITH clock AS MATERIALIZED ({now} AS now),
lease AS MATERIALIZED (
    SELECT w.leased_until FROM {sessions} AS w, clock
    WHERE w.id = :session AND w.leased_until > clock.now
),
one AS (
    SELECT
        json_array_elements_text(CAST(:ids AS json)) AS id,
        json_array_elements_text(CAST(:schedules AS json)) AS schedule_id,
        json_array_elements_text(CAST(:successors AS json)) AS successor,
        unnest(CAST(:revisions AS bigint[])) AS revision,
        unnest(CAST(:starts AS bigint[])) AS starts,
        unnest(CAST(:cursors AS bigint[])) AS cursor_at,
        unnest(CAST(:run_ats AS bigint[])) AS run_at,
        unnest(CAST(:due_ats AS bigint[])) AS due_at,
        unnest(CAST(:next_run_ats AS bigint[])) AS next_run_at,
        unnest(CAST(:next_due_ats AS bigint[])) AS next_due_at
),
moved AS (
    UPDATE {schedules} AS c SET
        cursor_at = one.run_at, starts = c.starts + 1, broken = '', ended = 0,
        next_run_at = one.next_run_at, audit_stamp = :stamp
    FROM one CROSS JOIN clock CROSS JOIN lease
    WHERE c.id = one.schedule_id AND c.revision = one.revision AND c.starts = one.starts
        AND c.cursor_at = one.cursor_at AND one.due_at <= clock.now
        AND NOT EXISTS (SELECT 1 FROM {switches})
    RETURNING one.id, one.successor, one.next_run_at, one.next_due_at, clock.now
),
begun AS (
    UPDATE {executions} AS e SET
        state = 'running', attempt = 1, reason = '', first_started_at = :started_at,
        started_at = :started_at, session = :session, fence = nextval('{fences}'),
        tzdata = :found_tzdata
    FROM moved
    WHERE e.id = moved.id AND e.state || '' IN ('pending', 'scheduled') AND e.held_by = ''
        AND e.attempt = 0 AND e.fence = 0 AND e.retried_at IS NULL AND e.due_at <= moved.now
    RETURNING
        e.id, e.fence, e.schedule_id, e.name, e.revision, e.job, e.queue, e.lane, e.priority,
        e.rules, e.args, moved.successor, moved.next_run_at, moved.next_due_at, moved.now
),
born AS (
    INSERT INTO {executions} (
        id, schedule_id, name, revision, kind, state, run_at, due_at, job, queue, lane, priority,
        rules, args, tzdata, created_at,
        reason, actor, attempt, failures, crashes, fence, session, held_by
    )
    SELECT
        successor, schedule_id, name, revision, 'scheduled', :state, next_run_at, next_due_at, job,
        queue, lane, priority, rules, args, :tzdata, now, '', '', 0, 0, 0, 0, '', ''
    FROM begun
)
SELECT id, fence, 0 FROM begun
UNION ALL
SELECT '', (SELECT count(*) FROM moved), (SELECT leased_until FROM lease)

-- name: end_successes
-- End executions of a session as successes, if they run under these fences. State and session are
-- tied to each id: by old statistics hardly any row runs, and the planner would scan the running
-- rows first and compare each with every id.
UPDATE {executions} SET state = 'succeeded', reason = '', finished_at = :at, ended_at = :at
FROM {pairs:claims} AS one
WHERE id = one.word AND fence = one.number
    AND state || left(one.word, 0) = 'running' AND session || left(one.word, 0) = :session

-- name: raise_fences
-- Raise new fences far above a fence that was handed out elsewhere: other transactions may take
-- fences meanwhile.
SELECT setval('{fences}', :fence + 1000000) FROM {fences} WHERE last_value <= :fence

-- name: next_fences
-- Hand out :count new fences; the rows that get the fences are already locked.
SELECT nextval('{fences}') FROM generate_series(1, :count)

-- name: lock_switches
-- A transaction that turns a switch waits for this one; transactions that read switches do not.
LOCK TABLE {switches} IN SHARE MODE

-- name: has_meta
-- Whether the store was ever set up.
SELECT 1 WHERE to_regclass(:table) IS NOT NULL

-- name: isolation
-- The isolation level of this transaction.
SELECT current_setting('transaction_isolation')

-- name: now
-- The server's clock at this moment, not at the beginning of the transaction.
SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000000) AS bigint)

-- name: notify
-- Wake the connections that listen to a channel, when this transaction commits.
SELECT pg_notify(:channel, :word)

-- name: tick
-- Renew the lease of a session, and answer its heartbeat: one statement, as of one instant.
WITH RECURSIVE {lanes},
clock AS MATERIALIZED ({now} AS now),
renewed AS (
    UPDATE {sessions} AS s SET leased_until = clock.now + :lease
    FROM clock WHERE s.id = :session
    RETURNING s.leased_until
)
SELECT 'now', now, '' FROM clock
UNION ALL
SELECT 'alive', leased_until, '' FROM renewed
UNION ALL
{tick_facts}

-- name: lock_schema
-- One process at a time changes the schema.
SELECT pg_advisory_xact_lock(hashtext(:name))

-- name: has_schema
-- Whether the schema of the tables exists.
SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = :schema

-- name: create_schema
-- Create the schema of the tables; needs the right to create schemas in the database.
CREATE SCHEMA IF NOT EXISTS {schema}

-- name: server_settings
-- The server process of the connection, and the server settings that check_server reads.
SELECT
    pg_backend_pid(), current_setting('server_encoding'), pg_is_in_recovery(),
    current_setting('default_transaction_read_only'),
    current_setting('fsync'), current_setting('full_page_writes')

-- Many rows at once: one statement for all, not one for each

-- name: insert_execution
-- Insert executions, given as a JSON array.
INSERT INTO {executions} ({columns:execution})
SELECT {columns:execution}
FROM json_populate_recordset(CAST(NULL AS {executions}), CAST(:rows AS json))

-- name: load_execution
-- Insert executions by COPY.
COPY {executions} ({columns:scheduled_execution}) FROM STDIN

-- name: load_schedule
-- Insert schedules by COPY.
COPY {schedules} ({columns:schedule}) FROM STDIN

-- name: load_snapshot
-- Insert the snapshots of new schedules by COPY.
COPY {snapshots} (schedule_id, revision, rules, args) FROM STDIN

-- name: insert_snapshot
-- Insert snapshots, given as a JSON array.
INSERT INTO {snapshots} (schedule_id, revision, rules, args)
SELECT schedule_id, revision, rules, args
FROM json_populate_recordset(CAST(NULL AS {snapshots}), CAST(:rows AS json))
ON CONFLICT DO NOTHING

-- name: update_rows
-- Update rows of table {1} by their ids: the columns of list {2}, given as a JSON array.
UPDATE {{1}} AS e SET {changes:{2} from r}
FROM json_populate_recordset(CAST(NULL AS {{1}}), CAST(:rows AS json)) AS r
WHERE e.id = r.id

-- name: hold_key
-- Note the newest execution of each key; rows are given as a JSON array.
UPDATE {unique_keys} AS k SET execution_id = r.execution_id, failures = r.failures
FROM json_populate_recordset(CAST(NULL AS {unique_keys}), CAST(:rows AS json)) AS r
WHERE k.unique_key = r.unique_key

-- name: insert_fresh
-- Insert executions that differ only in id and arguments; fails on an id that exists.
INSERT INTO {executions} (id, args, {columns:alike_execution})
SELECT one.word, one.document, {parameters:alike_execution}
FROM {documents:documents} AS one

-- name: insert_attempt
-- Insert ended attempts, given as a JSON array; existing attempts are left unchanged.
INSERT INTO {attempts} (
    execution_id, fence, session, started_at, finished_at, state, result, error, ending
)
SELECT execution_id, fence, session, started_at, finished_at, state, result, error, ending
FROM json_populate_recordset(CAST(NULL AS {attempts}), CAST(:rows AS json))
ON CONFLICT DO NOTHING

-- name: outcome_rows
-- The last outcomes of each of these schedules.
SELECT {row_columns} FROM {each:ids} AS one
CROSS JOIN LATERAL (
    SELECT x.* FROM {executions} AS x
    WHERE x.schedule_id = one.value AND {is_outcome:x} ORDER BY x.finished_at DESC LIMIT :limit
) AS e
{row_joins}
