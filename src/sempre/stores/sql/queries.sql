-- The statements of every dialect. `:word` is a parameter, `{word}` a table or a piece of SQL that
-- this file or the dialect names, `{word:a,b}` a piece with arguments: see statements.py. Lists
-- such as `{columns:list}` are columns of executions and schedules: see column_lists.py.

-- Values: how a parameter with many values becomes a table or a list

-- name: list
-- The texts of a JSON array, to the right of IN.
(SELECT value FROM {each:{1}})

-- Indexes: conditions that a partial index serves, and hints for MariaDB, which has no such index

-- name: by_id
-- A hint to find rows by their primary key. Empty: PostgreSQL and SQLite need no hint.

-- name: by_index
-- A hint to find rows by an index. Empty: PostgreSQL and SQLite need no hint.

-- name: in_turn
-- A join whose left side is read first: SQLite keeps the order of a CROSS JOIN.
CROSS JOIN

-- name: waiting_lane
-- The lane of a row {1} that waits and is not held, as an expression to compare with a value.
{1}.state IN ('pending', 'scheduled') AND {1}.held_by = '' AND {1}.lane

-- name: active_of
-- The schedule of a row {1} that waits or runs, as an expression to compare with a value.
{1}.state IN ('pending', 'scheduled', 'running') AND {1}.schedule_id

-- name: active_key
-- The unique key of a row {1} that waits or runs, as an expression to compare with a value.
{1}.state IN ('pending', 'scheduled', 'running') AND {1}.unique_key IS NOT NULL AND {1}.unique_key

-- name: running_session
-- The session of a row {1} that runs, as an expression to compare with a value.
{1}.state = 'running' AND {1}.session

-- name: untried
-- Whether a waiting row {1} waits for its first start, and no operator has retried it.
{1}.first_started_at IS NULL AND {1}.retried_at IS NULL

-- name: failed_job
-- The job of a row {1} that failed for good, as an expression to compare with a value.
{1}.state = 'failed' AND {1}.job

-- name: beyond
-- Whether the pair {1}, {2} comes after ({3} is >) or before (<) the pair {4}, {5}.
({1}, {2}) {3} ({4}, {5})

-- Writing

-- name: update_rows
-- Update rows of table {1} by their ids: the columns of list {2}, row by row.
UPDATE {{1}} SET {changes:{2}} WHERE id = :id

-- name: upsert
-- The beginning of the changes that an INSERT makes to an existing row with equal columns {0}.
ON CONFLICT ({0}) DO UPDATE SET

-- name: new
-- The value of column {1} that an INSERT would have written.
excluded.{1}

-- name: unless_known
-- Makes an INSERT skip a row that exists; {1} is any column of the key.
ON CONFLICT DO NOTHING

-- name: lock
-- Locks the rows of a SELECT until the transaction ends.
FOR UPDATE

-- name: lock_free
-- Locks the rows of a SELECT, and leaves out rows that another transaction has locked.
FOR UPDATE SKIP LOCKED

-- Pieces

-- name: row_columns
-- An execution e, its snapshot, and its lease while it runs: for `encoding.read_execution`.
{columns:read_execution of e}, e.name, e.revision,
coalesce(e.rules, s.rules), coalesce(e.args, s.args),
CASE WHEN e.state = 'running' THEN coalesce(w.leased_until, e.started_at) END

-- name: row_tables
-- An execution, its snapshot, and the session that runs the execution.
{executions} AS e {row_joins}

-- name: row_joins
-- The snapshot and the session of an execution e.
LEFT JOIN {snapshots} AS s ON s.schedule_id = e.schedule_id AND s.revision = e.revision
LEFT JOIN {sessions} AS w ON e.state = 'running' AND w.id = e.session

-- name: taken_columns
-- Waiting one-off work, and its snapshot: for `encoding.read_taken`.
{columns:taken_execution of found}, found.name, found.revision, found.rules, found.args

-- name: schedule_columns
-- A schedule: for `encoding.read_schedule`.
{columns:read_schedule}

-- Setup

-- name: read_meta
-- The version of the schema, and the identity of the store.
SELECT version, uuid FROM {meta}

-- name: create_meta
-- Write the version of the schema and the identity of the store, once.
INSERT INTO {meta} (id, version, uuid, fence) VALUES (1, :version, :uuid, 0)

-- name: set_uuid
-- Give a copied store an identity of its own.
UPDATE {meta} SET uuid = :uuid

-- name: raise_fences
-- Raise new fences above a fence that was handed out elsewhere, and above all fences of a replaced
-- file: a file hands out fewer fences than microseconds pass.
UPDATE {meta} SET fence = max(fence, :fence, :now) RETURNING fence

-- name: set_version
-- Write the version of the schema after a migration.
UPDATE {meta} SET version = :version

-- Schedules

-- name: known_schedules
-- The schedules among these that exist.
SELECT id FROM {schedules} WHERE id IN {list:ids}

-- name: taken_names
-- The names among these that belong to a schedule that is not deleted.
SELECT live_name FROM {schedules} WHERE live_name IN {list:names}

-- name: schedules_named
-- The ids of schedules that are not deleted, by name.
SELECT live_name, id FROM {schedules} WHERE live_name IN {list:names}

-- name: insert_schedule
-- Insert a schedule.
INSERT INTO {schedules} ({columns:schedule}) VALUES ({parameters:schedule})

-- name: load_schedule
-- Insert a schedule in a transaction of the store; a dialect may replace this by a faster way.
{insert_schedule}

-- name: rewrite_schedule
-- Write a schedule that a person or a deploy has changed.
UPDATE {schedules} SET {changes:rewritten_schedule} WHERE id = :id

-- name: move_schedule
-- Write a schedule that a claim or a reconcile has moved on; its definition stays.
{update_rows:schedules,moved_schedule}

-- name: mark_astray
-- Let maintenance check a schedule: its next row was ended without a plan for the schedule.
UPDATE {schedules} SET audit_stamp = ''
WHERE id = :schedule_id AND next_run_at = :run_at AND audit_stamp IS NOT NULL

-- name: schedules_by_name
-- Schedules by name, without deleted ones.
SELECT {schedule_columns} FROM {schedules} WHERE live_name IN {list:names}

-- name: schedules_by_id
-- Schedules by id, with deleted ones.
SELECT {schedule_columns} FROM {schedules} WHERE id IN {list:ids}

-- name: schedules_of
-- The schedules of executions.
SELECT {schedule_columns} FROM {schedules} WHERE id IN (
    SELECT schedule_id FROM {executions} WHERE id IN {list:ids}
)

-- name: schedules_astray
-- Schedules that may lack their next row, or whose next row was planned with older time zones.
SELECT {schedule_columns} FROM {schedules}
WHERE audit_stamp IS NOT NULL AND audit_stamp < :stamp
ORDER BY audit_stamp, id LIMIT :limit

-- name: schedules_ahead
-- Schedules whose cursor is in the future: a clock that ran ahead made them give up slots.
SELECT {schedule_columns} FROM (
    SELECT r.schedule_id AS owner FROM {ranges} AS r WHERE r.last_at > :ahead
    UNION
    SELECT x.schedule_id FROM {executions} AS x
    WHERE x.ended_at > :ahead AND x.schedule_id IS NOT NULL
        AND x.kind = 'scheduled' AND x.state IN ('skipped', 'missed')
) AS found
CROSS JOIN {schedules} AS c
WHERE c.id = found.owner AND c.deleted = 0 AND c.cursor_at > :ahead
ORDER BY c.id LIMIT :limit

-- name: schedules_slice
-- Schedules in the order of their ids.
SELECT {schedule_columns} FROM {schedules}
WHERE id > :after AND deleted = 0 ORDER BY id LIMIT :limit

-- name: schedules_doubtful
-- The number of schedules in a range of ids, the last id, and the schedules that are not plainly
-- in order. A schedule that wants a next row has one row that counts 1, and no other row.
WITH stretch AS (
    SELECT
        id, name, revision, cursor_at, next_run_at, broken,
        CASE WHEN started = 0 AND enabled = 1 AND ended = 0 THEN 1 ELSE 0 END AS is_new,
        CASE
            WHEN started = 1 AND enabled = 1 AND ended = 0
                AND (paused = 0 OR paused_until IS NOT NULL)
            THEN 1 ELSE 0
        END AS wants
    FROM {schedules} WHERE id > :after AND deleted = 0 ORDER BY id LIMIT :limit
)
SELECT count(*), max(id), NULL FROM stretch
UNION ALL
SELECT 0, one.id, one.name FROM stretch AS one
WHERE one.broken <> '' OR one.is_new = 1 OR one.cursor_at > :ahead
    OR (one.wants = 0 AND one.next_run_at IS NOT NULL)
    OR one.wants <> coalesce((
        SELECT sum(
            CASE WHEN x.run_at = one.next_run_at AND x.revision = one.revision THEN 1 ELSE 2 END
        )
        FROM {executions} AS x
        WHERE {active_of:x} = one.id
            AND x.state IN ('pending', 'scheduled') AND x.kind = 'scheduled'
            AND {untried:x} AND x.run_at > one.cursor_at
    ), 0)

-- name: schedules_page
-- Schedules by name, of a job or a tag, with a text in their name; an empty text stands for all.
SELECT {schedule_columns} FROM {schedules}
WHERE live_name > :after
    AND (:job = '' OR job = :job)
    AND (:tag = '' OR {position:tags,:tag} > 0)
    AND (:text = '' OR {position:folded_name,:text} > 0)
ORDER BY live_name LIMIT :limit

-- name: view_rows
-- The executions that planning reads: waiting and running ones, those with a slot after the
-- cursor, and those that ended after the earliest waiting one was due. A row may come twice.
SELECT {row_columns} FROM {row_tables}
WHERE e.schedule_id IN {list:ids}
    AND e.state IN ('pending', 'scheduled', 'running')
UNION ALL
SELECT {row_columns} FROM {row_tables}
WHERE e.id IN (
    SELECT x.id FROM {each:ids} AS one
    JOIN {schedules} AS c ON c.id = one.value
    JOIN {executions} AS x ON x.schedule_id = c.id AND x.run_at > c.cursor_at
    WHERE x.kind = 'scheduled' AND x.state <> 'superseded'
        AND x.state NOT IN ('pending', 'scheduled', 'running')
)
UNION ALL
SELECT {row_columns} FROM {row_tables}
WHERE e.id IN (
    SELECT x.id FROM {each:ids} AS one
    JOIN {executions} AS x ON x.schedule_id = one.value AND x.finished_at > (
        SELECT min(y.due_at) FROM {executions} AS y
        WHERE y.schedule_id = one.value AND y.state IN ('pending', 'scheduled', 'running')
            AND y.state IN ('pending', 'scheduled')
    )
    WHERE x.state NOT IN ('pending', 'scheduled', 'running')
)

-- Guards of plans

-- name: guarded_schedules
-- Lock schedules, and read what a plan's base is compared with. Schedules are locked before
-- executions, in the order of their ids.
SELECT id, revision, starts, cursor_at FROM {schedules} {by_id}
WHERE id IN {list:ids} ORDER BY id {lock}

-- name: guarded_executions
-- Lock executions, and read what a plan's changes are compared with.
SELECT
    id, state, attempt, fence, held_by, session, due_at, unique_key, unique_mode, unique_period,
    CASE WHEN schedule_id IS NOT NULL THEN rules END,
    CASE WHEN schedule_id IS NOT NULL THEN args END
FROM {executions} {by_id}
WHERE id IN {list:ids} ORDER BY id {lock}

-- name: occupied_slots
-- The executions that hold a slot, or are an active backfill of the slot, at pairs of schedule
-- and instant.
SELECT x.id, x.schedule_id, x.run_at, x.kind, x.state, coalesce(x.first_started_at, x.retried_at),
    x.tzdata
FROM {pairs:slots} AS one
{in_turn} {executions} AS x {by_index:executions_of_schedule}
WHERE x.schedule_id = one.word AND x.run_at = one.number
    AND (
        (x.kind = 'scheduled' AND x.state <> 'superseded')
        OR (x.kind = 'backfill' AND x.state IN ('pending', 'scheduled', 'running'))
    )

-- name: known_snapshots
-- Snapshots at pairs of schedule and revision.
SELECT s.schedule_id, s.revision, s.rules, s.args
FROM {pairs:revisions} AS one
CROSS JOIN {snapshots} AS s
WHERE s.schedule_id = one.word AND s.revision = one.number

-- name: tags_of
-- The tags of schedules, by which switches stop them.
SELECT id, tags FROM {schedules} WHERE id IN {list:ids}

-- Executions

-- name: insert_execution
-- Insert an execution.
INSERT INTO {executions} ({columns:execution}) VALUES ({parameters:execution})

-- name: insert_alike
-- Insert executions that differ only in id and arguments; existing ids are skipped.
INSERT INTO {executions} (id, args, {columns:alike_execution})
SELECT one.word, one.document, {parameters:alike_execution}
FROM {documents:documents} AS one WHERE true
{unless_known:id}

-- name: insert_fresh
-- Like `insert_alike`, but may fail on an id that exists; the transaction is repeated then.
{insert_alike}

-- name: load_execution
-- Insert an execution of a schedule in a transaction of the store; a dialect may replace this by
-- a faster way.
INSERT INTO {executions} ({columns:scheduled_execution})
VALUES ({parameters:scheduled_execution})

-- name: update_execution
-- Write a checked change of an execution; slot, kind and snapshot never change.
{update_rows:executions,changed_execution}

-- name: start_taken
-- Start executions, each under its own fence; given as pairs of id and fence. The time zone
-- data are those of the plan that starts the executions, if a plan exists.
UPDATE {executions} SET
    state = 'running', attempt = attempt + 1, reason = '', started_at = :now, session = :session,
    first_started_at = coalesce(first_started_at, :now), fence = one.number,
    tzdata = coalesce(:tzdata, tzdata)
FROM {pairs:claims} AS one WHERE id = one.word

-- name: end_successes
-- End executions of a session as successes, if they run under these fences. Rows are found by id,
-- never by session: statistics lack the rows that were just claimed, and the database would
-- compare each of these rows with each id.
UPDATE {executions} SET state = 'succeeded', reason = '', finished_at = :at, ended_at = :at
FROM {pairs:claims} AS one
WHERE id = one.word AND fence = one.number
    AND {state_itself} = 'running' AND session || '' = :session

-- name: succeeded_among
-- The claims among these that have succeeded, and when; claims are pairs of id and fence.
SELECT e.id, e.fence, e.finished_at FROM {pairs:claims} AS one
{in_turn} {executions} AS e {by_id}
WHERE e.id = one.word AND e.fence = one.number AND e.state = 'succeeded'

-- name: insert_snapshot
-- Insert the snapshot of a revision; an existing snapshot is left unchanged.
INSERT INTO {snapshots} (schedule_id, revision, rules, args)
VALUES (:schedule_id, :revision, :rules, :args) {unless_known:revision}

-- name: load_snapshot
-- Insert the snapshot of a new schedule; a dialect may replace this by a faster way.
{insert_snapshot}

-- name: insert_range
-- Insert a range of slots that passed without a row.
INSERT INTO {ranges} (schedule_id, first_at, last_at, slots, reason)
VALUES (:schedule_id, :first_at, :last_at, :slots, :reason)

-- name: retract_ranges
-- Delete ranges of slots after an instant: these slots are still to come.
DELETE FROM {ranges} WHERE schedule_id = :schedule_id AND last_at > :after

-- name: rows_by_id
-- Executions by id, in any state.
SELECT {row_columns} FROM {row_tables} WHERE e.id IN {list:ids}

-- name: next_due
-- When the next row of these lanes and jobs is due after an instant.
WITH RECURSIVE {lanes}
SELECT {first_due}

-- name: first_due
-- The instant of next_due as a value, for a query that has a table of lanes.
(
    SELECT min((
        SELECT x.due_at FROM {executions} AS x {by_index:executions_lane}
        WHERE {waiting_lane:x} = lanes.lane AND x.priority = lanes.priority
            AND x.job IN {list:jobs} AND x.due_at > :since
        ORDER BY x.due_at LIMIT 1
    ))
    FROM lanes WHERE lanes.priority IS NOT NULL
)

-- name: lanes
-- The priorities of waiting rows, lane by lane: one probe of the index each.
lanes (lane, priority) AS (
    SELECT one.value, (
        SELECT x.priority FROM {executions} AS x {by_index:executions_lane}
        WHERE {waiting_lane:x} = one.value ORDER BY x.priority LIMIT 1
    )
    FROM {each:lanes} AS one
    UNION ALL
    SELECT lanes.lane, (
        SELECT x.priority FROM {executions} AS x {by_index:executions_lane}
        WHERE {waiting_lane:x} = lanes.lane AND x.priority > lanes.priority
        ORDER BY x.priority LIMIT 1
    )
    FROM lanes WHERE lanes.priority IS NOT NULL
)

-- name: free_condition
-- A row {1} of a job that is wanted, waits in lane {2} with priority {3}, is due and not held.
{waiting_condition:{1},{2},{3}} AND {1}.due_at <= :now

-- name: waiting_condition
-- A row {1} of a job that is wanted, waits in lane {2} with priority {3}, and is not held.
{waiting_lane:{1}} = {2} AND {1}.priority = {3} AND {1}.job IN {list:jobs}

-- name: due_condition
-- Whether a row x fulfils the free_condition, and no switch stops it: manual runs are never
-- stopped, and a plan stops one-off work with a limit. The tags of the schedule are read only if a tag is stopped.
{free_condition:x,{1},{2}}
    AND (
        x.kind = 'manual' OR x.schedule_id IS NULL OR (
            x.job NOT IN {list:stopped_jobs}
            AND x.name NOT IN {list:stopped_names}
            AND {name_before_shard} NOT IN {list:stopped_shards}
            AND (
                NOT EXISTS (SELECT 1 FROM {each:stopped_tags} AS tag)
                OR NOT EXISTS (
                    SELECT 1 FROM {each:stopped_tags} AS tag JOIN {schedules} AS c
                        ON c.id = x.schedule_id AND {position:c.tags,tag.value} > 0
                )
            )
        )
    )

-- name: these_to_take
-- Lock the executions among these that are one-off work, wait in these lanes and are due, without
-- rows that other transactions have locked; by priority if :ranked is 1, by age if :ranked is 0.
SELECT {taken_columns} FROM {executions} AS found {by_id}
WHERE id IN {list:ids} AND lane IN {list:lanes}
    AND {state_itself} IN ('pending', 'scheduled') AND held_by = '' AND due_at <= :now
    AND job IN {list:jobs}
ORDER BY priority * :ranked, due_at, id LIMIT :limit {lock_free}

-- name: state_itself
-- The state, written so that no partial index of states replaces the search by id.
state || ''

-- name: name_before_shard
-- The name of a row x without the number at its end, such as the number of a pair's shard.
rtrim(x.name, '0123456789')

-- name: rows_unannounced
-- Pending rows that are due by an instant: the broker has not announced them.
SELECT e.id, e.due_at, e.queue, e.priority, e.attempt FROM {executions} AS e
WHERE e.state = 'pending' AND e.held_by = '' AND e.due_at <= :until
ORDER BY e.due_at, e.id LIMIT :limit

-- name: lane_after
-- The next lane with a waiting row.
SELECT min(x.lane) FROM {executions} AS x
WHERE {waiting_lane:x} > :lane

-- name: waiting_lanes
-- The lanes and priorities of waiting rows, most urgent first.
WITH RECURSIVE {lanes}
SELECT lane, priority FROM lanes WHERE priority IS NOT NULL ORDER BY priority, lane

-- name: waiting_rows
-- A page of the rows that wait in a lane with a priority and are due by an instant.
SELECT x.id, x.due_at, x.attempt, x.state FROM {executions} AS x {by_index:executions_lane}
WHERE {waiting_lane:x} = :lane AND x.priority = :priority AND x.due_at <= :until
    AND {beyond:x.due_at,x.id,>,:at,:id}
ORDER BY x.due_at, x.id LIMIT :limit

-- name: mark_announced
-- Note that the broker has announced executions.
UPDATE {executions} {by_id} SET state = 'scheduled'
WHERE id IN {list:ids} AND state = 'pending'

-- name: ids_from
-- The ids of executions from a prefix up to a text beyond it, highest first.
SELECT id FROM {executions} WHERE id >= :prefix AND id < :beyond ORDER BY id DESC LIMIT :limit

-- name: held_rows
-- Live executions that are held back.
SELECT e.id, e.due_at, e.queue, e.priority, e.attempt, e.state FROM {executions} AS e
WHERE e.held_by > '' AND e.held_by <> '' AND {state_itself} IN ('pending', 'scheduled')
LIMIT :limit

-- name: rows_expired
-- Running executions whose session is deleted or has lost its lease.
SELECT {row_columns} FROM {row_tables}
WHERE e.state = 'running' AND (w.id IS NULL OR w.leased_until <= :now)
ORDER BY e.session, e.id LIMIT :limit

-- name: rows_running
-- The executions that run under a session.
SELECT {row_columns} FROM {row_tables}
WHERE {running_session:e} = :session
ORDER BY e.fence

-- name: lock_schedules_of
-- Lock the schedules of executions, before the executions are changed.
SELECT id FROM {schedules} WHERE id IN (
    SELECT schedule_id FROM {executions} WHERE id IN {list:ids}
) ORDER BY id {lock}

-- name: next_rows_among
-- The executions among these that are the next row of their schedule.
SELECT e.id FROM {executions} AS e
JOIN {schedules} AS c ON c.id = e.schedule_id AND e.run_at > c.cursor_at
WHERE e.id IN {list:ids}
    AND e.kind = 'scheduled' AND e.state IN ('pending', 'scheduled') AND {untried:e}

-- name: cancel_live
-- Cancel waiting executions.
UPDATE {executions} SET
    state = 'cancelled', reason = 'requested', actor = :actor, finished_at = :now, ended_at = :now
WHERE id IN {list:ids} AND state IN ('pending', 'scheduled')
RETURNING id

-- name: ask_to_cancel
-- Ask the sessions that run executions to end them.
INSERT INTO {cancellations} (execution_id, fence, actor, asked_at)
SELECT id, fence, :actor, :now FROM {executions}
WHERE id IN {list:ids} AND state = 'running'
{upsert:execution_id} fence = {new:fence}, actor = {new:actor}
RETURNING execution_id

-- name: any_cancellation
-- Whether any execution is to be ended.
SELECT 1 FROM {cancellations} LIMIT 1

-- name: forget_cancellations
-- Delete requests to end executions that have ended.
DELETE FROM {cancellations} WHERE execution_id IN {list:ids}

-- name: held_claims
-- The fences of a session's executions, and which of these executions are to be ended in this
-- attempt.
SELECT e.fence, asked.execution_id FROM {executions} AS e
LEFT JOIN {cancellations} AS asked ON asked.execution_id = e.id AND asked.fence = e.fence
WHERE {running_session:e} = :session

-- name: claims_under
-- The ids and fences of a session's running executions.
SELECT e.id, e.fence FROM {executions} AS e WHERE {running_session:e} = :session

-- name: note_report
-- Store the progress of a run; a late report of an earlier claim is ignored.
INSERT INTO {reports} (execution_id, fence, told_at, report)
VALUES (:execution_id, :fence, :told_at, :report)
ON CONFLICT (execution_id) DO UPDATE SET
    fence = excluded.fence, told_at = excluded.told_at, report = excluded.report
WHERE {reports}.fence <= excluded.fence

-- name: reports_of
-- The last progress reports of executions.
SELECT execution_id, fence, told_at, report FROM {reports}
WHERE execution_id IN {list:ids} ORDER BY execution_id

-- name: delete_reports
-- Delete progress reports of executions.
DELETE FROM {reports} WHERE execution_id IN {list:ids}

-- Logs of runs

-- name: claims_of
-- The fence and the session of executions: whose logs of runs are accepted.
SELECT id, fence, session FROM {executions} WHERE id IN {list:ids}

-- name: write_log
-- Store the log of a run, in place of an earlier text.
INSERT INTO {run_logs} (execution_id, fence, written_at, log)
VALUES (:execution_id, :fence, :written_at, :log)
{upsert:execution_id,fence} written_at = {new:written_at}, log = {new:log}

-- name: logs_of
-- The logs of the runs of an execution.
SELECT execution_id, fence, written_at, log FROM {run_logs}
WHERE execution_id = :id ORDER BY fence

-- name: delete_logs
-- Delete the logs of the runs of executions.
DELETE FROM {run_logs} WHERE execution_id IN {list:ids}

-- Attempts

-- name: settled_attempts
-- The attempts of executions that their own workers have ended.
SELECT execution_id, fence FROM {attempts}
WHERE execution_id IN {list:ids} AND ending = 'settled'

-- name: insert_attempt
-- Insert an ended attempt; an existing attempt is left unchanged.
INSERT INTO {attempts} (
    execution_id, fence, session, started_at, finished_at, state, result, error, ending
) VALUES (
    :execution_id, :fence, :session, :started_at, :finished_at, :state, :result, :error, :ending
) {unless_known:ending}

-- name: attempts_of
-- Every attempt of an execution; a success without a row of its own is the last attempt.
SELECT execution_id, fence, session, started_at, finished_at, state, result, error, ending, number
FROM {attempts} WHERE execution_id = :id
UNION ALL
SELECT {unrecorded_success}, 9223372036854775807 FROM {executions} AS e
WHERE e.id = :id AND {is_unrecorded_success}
ORDER BY number

-- name: unrecorded_success
-- The attempt that an execution e stands for, in the order of `records.read_attempt`.
e.id, e.fence, e.session, e.started_at, e.finished_at, e.state, 'null', '', 'settled'

-- name: is_unrecorded_success
-- Whether an execution e has succeeded without a row for its last attempt.
e.state = 'succeeded' AND NOT EXISTS (
    SELECT 1 FROM {attempts} AS known
    WHERE known.execution_id = e.id AND known.fence = e.fence AND known.ending = 'settled'
)

-- name: record_successes
-- Insert the attempts of successes, before later attempts are inserted.
INSERT INTO {attempts} (
    execution_id, fence, session, started_at, finished_at, state, result, error, ending
)
SELECT {unrecorded_success} FROM {executions} AS e
WHERE e.id IN {list:ids} AND {is_unrecorded_success}

-- Unique work

-- name: reserve_keys
-- Make sure that each key has a row: transactions that want a key wait for its row.
INSERT INTO {unique_keys} (unique_key, execution_id)
SELECT value, '' FROM {each:keys} AS one WHERE value IS NOT NULL ORDER BY value
{unless_known:unique_key}

-- name: lock_keys
-- Lock keys until the transaction ends.
SELECT unique_key FROM {unique_keys} {by_id}
WHERE unique_key IN {list:keys} ORDER BY unique_key {lock}

-- name: keyed_rows
-- The waiting and running executions of keys, and the newest execution of each key in any state.
SELECT x.unique_key, x.id, x.state, x.created_at, 0, 0, x.finished_at FROM {executions} AS x
WHERE {active_key:x} IN {list:keys}
UNION ALL
SELECT k.unique_key, e.id, e.state, e.created_at, 1, k.failures, e.finished_at
FROM {unique_keys} AS k JOIN {executions} AS e ON e.id = k.execution_id
WHERE k.unique_key IN {list:keys}

-- name: hold_key
-- Note the newest execution of a key.
UPDATE {unique_keys} SET execution_id = :execution_id, failures = :failures
WHERE unique_key = :unique_key

-- name: known_executions
-- The executions among these that exist.
SELECT id FROM {executions} WHERE id IN {list:ids}

-- Sessions

-- name: register_session
-- Begin a session.
INSERT INTO {sessions} (
    id, host, pid, queues, jobs, tzdata, release_number, started_at, leased_until
) VALUES (
    :id, :host, :pid, :queues, :jobs, :tzdata, :release_number, :started_at, :leased_until
) {upsert:id}
    host = {new:host}, pid = {new:pid}, queues = {new:queues}, jobs = {new:jobs},
    tzdata = {new:tzdata}, release_number = {new:release_number},
    started_at = {new:started_at}, leased_until = {new:leased_until}, draining = 0

-- name: renew_session
-- Renew the lease of a session, even of an expired one.
UPDATE {sessions} SET leased_until = :until WHERE id = :id

-- name: drain_sessions
-- Ask workers to finish their runs and to stop.
UPDATE {sessions} SET draining = 1 WHERE id IN {list:ids}

-- name: known_sessions
-- Which of these sessions exist.
SELECT id FROM {sessions} WHERE id IN {list:ids}

-- name: guarded_leases
-- Lock sessions, so that no session is renewed meanwhile, and read when their leases end.
SELECT id, leased_until FROM {sessions} {by_id}
WHERE id IN {list:ids} ORDER BY id {lock}

-- name: shorten_leases
-- Let every lease end by an instant.
UPDATE {sessions} SET leased_until = :until WHERE leased_until > :until

-- name: tick
-- The answer to a heartbeat of a session.
WITH RECURSIVE {lanes}, clock (now) AS (SELECT :now)
{tick_facts}

-- name: tick_facts
-- The facts of the answer of `tick`, each a word, a number and a text; needs lanes and clock.
SELECT 'switch over', s.until_at, '' FROM {switches} AS s, clock WHERE s.until_at <= clock.now
UNION ALL
SELECT 'held', claim.fence, claim.execution_id FROM ({held_claims}) AS claim
UNION ALL
SELECT 'due', {first_due}, ''
UNION ALL
SELECT 'pass', due_at, '' FROM {passes}
UNION ALL
SELECT 'store', 0, uuid FROM {meta}
UNION ALL
SELECT 'drain', w.draining, '' FROM {sessions} AS w WHERE w.id = :session AND w.draining = 1
UNION ALL
SELECT 'expired', clock.now, '' FROM clock WHERE EXISTS ({expired_run})

-- name: expired_run
-- A running execution whose session is deleted, or is another session without a valid lease.
SELECT 1 FROM {executions} AS e LEFT JOIN {sessions} AS w ON w.id = e.session
WHERE e.state = 'running'
    AND (w.id IS NULL OR (w.leased_until <= clock.now AND w.id <> :session))

-- name: retire_session
-- End a session.
DELETE FROM {sessions} WHERE id = :id

-- name: lease_of
-- When the lease of a session ends.
SELECT leased_until FROM {sessions} WHERE id = :id

-- name: all_sessions
-- Every session, with expired ones.
SELECT id, host, pid, queues, jobs, tzdata, release_number, started_at, leased_until, draining
FROM {sessions} ORDER BY id

-- Switches

-- name: lock_turning
-- Wait for transactions that have read which switches are off. Empty: a write to the table waits
-- already.

-- name: all_switches
-- The switches that are off, including switches that have reached their end.
SELECT name, target, mode, reason, actor, until_at FROM {switches} ORDER BY name

-- name: turn_off
-- Turn a switch off: the switch then stops its target.
{lock_turning}
INSERT INTO {switches} (name, target, mode, reason, actor, until_at)
VALUES (:name, :target, :mode, :reason, :actor, :until_at)
{upsert:name}
    target = {new:target}, mode = {new:mode}, reason = {new:reason},
    actor = {new:actor}, until_at = {new:until_at}

-- name: turn_on
-- Turn a switch on.
{lock_turning}
DELETE FROM {switches} WHERE name = :name

-- name: count_rejections
-- Add to the count of work that a switch has rejected.
INSERT INTO {rejections} (name, refused) VALUES (:name, :refused)
{upsert:name} refused = {rejections}.refused + {new:refused}

-- name: all_rejections
-- The counts of work that switches have rejected.
SELECT name, refused FROM {rejections}

-- name: forget_rejections
-- Delete the count of a switch that is on again.
DELETE FROM {rejections} WHERE name = :name

-- name: hold
-- Let executions that a switch stops wait until the switch is on again.
UPDATE {executions} {by_id} SET held_by = :name WHERE id IN {list:ids}

-- name: free_held
-- Free executions that a switch has held.
UPDATE {executions} SET held_by = '' WHERE held_by = :name AND held_by <> ''

-- name: note_held
-- Write the reason why slots wait for a switch.
UPDATE {executions} SET reason = :reason
WHERE id IN {list:ids} AND state IN ('pending', 'scheduled')

-- name: held_slots
-- Slots that wait for a switch and are overdue.
SELECT x.id FROM {executions} AS x
WHERE {is_waiting} AND x.kind = 'scheduled' AND {untried:x} AND x.due_at <= :now
    AND (
        :everything = 1
        OR x.queue IN {list:stopped_queues}
        OR x.job IN {list:stopped_jobs}
        OR x.name IN {list:stopped_names}
        OR {name_before_shard} IN {list:stopped_shards}
        OR EXISTS (
            SELECT 1 FROM {each:stopped_tags} AS tag JOIN {schedules} AS c
                ON c.id = x.schedule_id AND {position:c.tags,tag.value} > 0
        )
    )

-- name: is_waiting
-- Whether a row x waits and is not held.
x.state IN ('pending', 'scheduled') AND x.held_by = ''

-- Limits

-- name: lock_limits
-- Lock limits until the transaction ends; given as pairs of key and period. Each row keeps the
-- longest period, for which starts are kept.
INSERT INTO {limits} (limit_key, period, used_at)
SELECT one.word, one.number, :now FROM {pairs:limits} AS one WHERE true ORDER BY one.word
{upsert:limit_key}
    period = CASE
        WHEN {new:period} > {limits}.period THEN {new:period} ELSE {limits}.period
    END,
    used_at = {new:used_at}

-- name: limit_periods
-- The longest periods of limits.
SELECT limit_key, period FROM {limits} {by_id} WHERE limit_key IN {list:keys}

-- name: runs_under
-- The condition that a row {1} runs under a limit {2}.
{1}.limit_key <> '' AND {1}.state = 'running' AND {1}.limit_key = {2}

-- name: waits_under
-- The condition that a row {1} waits, is not held, and has {2} as the key of its first limit.
{1}.limit_key || {1}.rate_key <> '' AND {1}.state IN ('pending', 'scheduled') AND {1}.held_by = ''
    AND CASE WHEN {1}.limit_key <> '' THEN {1}.limit_key ELSE {1}.rate_key END = {2}

-- name: is_held_by
-- The condition that a row {1} waits and is held by {2}.
{1}.held_by <> '' AND {1}.state IN ('pending', 'scheduled') AND {1}.held_by = {2}

-- name: limited_runs
-- How many executions run under each of these limits.
SELECT one.value, (SELECT count(*) FROM {executions} AS x WHERE {runs_under:x,one.value})
FROM {each:keys} AS one

-- name: recent_starts
-- How many starts under a limit are younger than an instant.
SELECT count(*) FROM {limit_starts} WHERE limit_key = :limit_key AND started_at > :since

-- name: newest_start
-- The start under a limit that has :before newer ones.
SELECT started_at FROM {limit_starts} WHERE limit_key = :limit_key
ORDER BY started_at DESC, fence DESC LIMIT 1 OFFSET :before

-- name: insert_start
-- Record a start under a limit.
INSERT INTO {limit_starts} (limit_key, started_at, fence) VALUES (:limit_key, :started_at, :fence)
{unless_known:fence}

-- name: forget_starts
-- Delete starts under a limit that count no more.
DELETE FROM {limit_starts} WHERE limit_key = :limit_key AND started_at <= :before

-- name: crowded
-- Which of these holders hold an execution: one probe each. With EXISTS, PostgreSQL would read all
-- executions that are held.
SELECT one.value FROM {each:holders} AS one
WHERE (SELECT x.id FROM {executions} AS x WHERE {is_held_by:x,one.value} LIMIT 1) IS NOT NULL

-- name: first_parked
-- The executions that a limit holds and that go first.
SELECT x.priority, x.run_at, x.id FROM {executions} AS x WHERE {is_held_by:x,:holder}
ORDER BY x.priority, x.run_at, x.id LIMIT :limit

-- name: parked_rows
-- A page of the executions that a limit holds, the first ones first.
SELECT {row_columns} FROM {row_tables} WHERE {is_held_by:e,:holder}
ORDER BY e.priority, e.run_at, e.id LIMIT :limit OFFSET :before

-- name: next_holder
-- The next limit that holds an execution, after a holder.
SELECT x.held_by FROM {executions} AS x
WHERE x.held_by <> '' AND x.state IN ('pending', 'scheduled')
    AND x.held_by > :after AND x.held_by < :beyond
ORDER BY x.held_by LIMIT 1

-- name: waiting_under
-- Lock executions that are due and not held, by the key of their first limit, and by a rate if it
-- is given, without rows that another transaction has locked.
SELECT x.id FROM {executions} AS x
WHERE {waits_under:x,:first_key} AND (:rate_key = '' OR x.rate_key = :rate_key) AND x.due_at <= :now
ORDER BY x.due_at, x.id LIMIT :limit {lock_free}

-- name: lock_executions
-- Lock executions.
SELECT id FROM {executions} {by_id} WHERE id IN {list:ids} ORDER BY id {lock}

-- name: park
-- Let executions wait for a limit.
UPDATE {executions} {by_id} SET held_by = :holder, reason = :reason
WHERE id IN {list:ids} AND {state_itself} IN ('pending', 'scheduled') AND held_by = :before

-- name: free_parked
-- Let executions that a limit has held wait no more: they are due now.
UPDATE {executions} {by_id} SET held_by = '', reason = '', due_at = :now
WHERE id IN {list:ids} AND {state_itself} IN ('pending', 'scheduled') AND held_by = :holder

-- name: delete_limits
-- Delete limits that were not used for long; a claim creates the row again.
{delete_before:limits,limit_key,used_at}

-- name: delete_starts
-- Delete starts of limits that were not used for long.
DELETE FROM {limit_starts} WHERE started_at < :before

-- Maintenance

-- name: begin_pass
-- Begin the pass if it is due (see Pass.is_due): of two transactions, one gets a row.
INSERT INTO {passes} (id, due_at, holder, finished_at, report)
VALUES (1, :due_at, :holder, NULL, '{}')
ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, holder = excluded.holder
WHERE {passes}.due_at <= :now OR {passes}.due_at > :farthest
RETURNING due_at, holder, finished_at, report

-- name: finish_pass
-- Write the result of a pass, and when the next pass is due, if given.
UPDATE {passes} SET finished_at = :now, report = :report, due_at = COALESCE(:due_at, due_at)
WHERE holder = :holder

-- name: last_pass
-- The row of the last pass.
SELECT due_at, holder, finished_at, report FROM {passes}

-- name: ended_page
-- The next executions that ended before an instant, oldest first, with what decides whether they
-- are kept: whether their slot is to come, and the rules of their schedule.
SELECT {purged_columns:e}, e.ended_at, CASE WHEN {is_past:e} THEN 0 ELSE 1 END, c.retention,
    CASE WHEN c.deleted = 0 THEN c.keep ELSE -1 END
FROM {executions} AS e LEFT JOIN {schedules} AS c ON c.id = e.schedule_id
WHERE e.ended_at IS NOT NULL AND e.ended_at < :before
    AND e.ended_at >= :at AND (e.ended_at > :at OR e.id > :id)
ORDER BY e.ended_at, e.id LIMIT :limit

-- name: purged_columns
-- What a purge needs of an execution {1} that it deletes.
{1}.id, {1}.schedule_id, {1}.run_at, {1}.state, {1}.started_at, {1}.finished_at, {1}.revision,
    {1}.kind

-- name: is_past
-- Whether the slot of a row {1} is in the past and before the cursor of its schedule c, if any.
{1}.run_at <= :now AND (
    c.id IS NULL OR {1}.kind <> 'scheduled' OR {1}.state = 'superseded' OR {1}.run_at <= c.cursor_at
)

-- name: kept_since
-- For each schedule, when the oldest of its newest finished executions finished, :newer of which
-- finished later; NULL if it has fewer.
SELECT one.value, (
    SELECT y.finished_at FROM {executions} AS y {by_index:executions_finished}
    WHERE y.schedule_id = one.value AND y.finished_at IS NOT NULL
    ORDER BY y.finished_at DESC LIMIT 1 OFFSET :newer
)
FROM {each:ids} AS one

-- name: pushed_out
-- Ended executions that finished before an instant of their schedule: pairs of schedule and instant.
SELECT {purged_columns:e} FROM {pairs:bounds} AS one
CROSS JOIN {schedules} AS c ON c.id = one.word
CROSS JOIN {executions} AS e ON e.id IN (
    SELECT x.id FROM {executions} AS x
    WHERE x.schedule_id = c.id AND x.finished_at < one.number
        AND x.ended_at IS NOT NULL AND {is_past:x}
    ORDER BY x.finished_at, x.id LIMIT :limit
)

-- name: lock_ended
-- Lock executions that are still ended: an operator may have retried the others meanwhile.
SELECT id FROM {executions} {by_id}
WHERE id IN {list:ids} AND ended_at IS NOT NULL ORDER BY id {lock}

-- name: own_retentions
-- The retentions that schedules have of their own: one probe of the index each.
WITH RECURSIVE own (retention) AS (
    SELECT min(c.retention) FROM {schedules} AS c WHERE c.retention > 0
    UNION ALL
    SELECT (SELECT min(c.retention) FROM {schedules} AS c WHERE c.retention > own.retention)
    FROM own WHERE own.retention IS NOT NULL
)
SELECT retention FROM own WHERE retention IS NOT NULL

-- name: delete_executions
-- Delete executions.
DELETE FROM {executions} WHERE id IN {list:ids}

-- name: delete_attempts
-- Delete the attempts of executions.
DELETE FROM {attempts} WHERE execution_id IN {list:ids}

-- name: delete_keys
-- Delete the unique keys of executions.
DELETE FROM {unique_keys} WHERE execution_id IN {list:ids}

-- name: delete_before
-- Delete rows of table {1} with key {2} that column {3} dates before an instant, oldest first.
DELETE FROM {{1}} WHERE {2} IN (
    SELECT {2} FROM {{1}} WHERE {3} < :before ORDER BY {3}, {2} LIMIT :limit
)

-- name: delete_ranges
-- Delete ranges of slots whose last slot lies before an instant, oldest first.
{delete_before:ranges,number,last_at}

-- name: delete_orphans
-- Delete results of executions that were deleted earlier: no other row refers to these results.
DELETE FROM {attempts} WHERE number IN (
    SELECT number FROM {attempts} WHERE ending = 'orphan' AND finished_at < :before
    ORDER BY finished_at, number LIMIT :limit
)

-- name: delete_sessions
-- Delete sessions that lost their lease long ago, such as those of crashed workers.
{delete_before:sessions,id,leased_until}

-- name: unused_snapshots
-- The unused snapshots among pairs of schedule and revision. New executions have the current
-- revision, so no new execution needs an unused snapshot.
SELECT s.schedule_id, s.revision FROM {pairs:revisions} AS one
CROSS JOIN {snapshots} AS s
WHERE s.schedule_id = one.word AND s.revision = one.number
    AND NOT EXISTS (
        SELECT 1 FROM {schedules} AS c
        WHERE c.id = s.schedule_id AND c.deleted = 0 AND c.revision <= s.revision
    )
    AND {revision_is_unused}

-- name: revision_is_unused
-- Whether no execution has a revision.
(
    SELECT e.id FROM {executions} AS e
    WHERE e.schedule_id = s.schedule_id AND e.revision = s.revision LIMIT 1
) IS NULL

-- name: delete_snapshot
-- Delete a snapshot.
DELETE FROM {snapshots} WHERE schedule_id = :schedule_id AND revision = :revision

-- name: add_to_rollup
-- Add deleted executions to the counts of their day.
INSERT INTO {rollups} (schedule_id, day, state, kind, executions, microseconds)
VALUES (:schedule_id, :day, :state, :kind, :executions, :microseconds)
{upsert:schedule_id, day, state, kind}
    executions = {rollups}.executions + {new:executions},
    microseconds = {rollups}.microseconds + {new:microseconds}

-- History

-- name: history_of_schedule
-- A page of a schedule's executions, newest slot first.
SELECT {row_columns} FROM {row_tables}
WHERE e.schedule_id = :schedule_id AND {beyond:e.run_at,e.id,<,:at,:id} AND {history_condition:e}
    AND (:job = '' OR e.job = :job)
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_job
-- A page of a job's executions.
SELECT {row_columns} FROM {row_tables}
WHERE e.job = :job AND {beyond:e.run_at,e.id,<,:at,:id} AND {history_condition:e}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_all
-- A page of all executions, from a page of each job: an index of all executions would be written
-- with every change of an execution, for a page that is rarely read.
WITH RECURSIVE {all_jobs}
SELECT {row_columns} FROM all_jobs
JOIN {executions} AS e ON e.id IN (
    SELECT e.id FROM {executions} AS e
    WHERE e.job = all_jobs.job AND {beyond:e.run_at,e.id,<,:at,:id} AND {history_condition:e}
    ORDER BY e.run_at DESC, e.id DESC LIMIT :limit
)
{row_joins}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_running
-- A page of running executions, by the index of what runs.
SELECT {row_columns} FROM {row_tables}
WHERE {running_session:e} > '' AND {beyond:e.run_at,e.id,<,:at,:id} AND {history_condition:e}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_failed
-- A page of failed executions, by the index of failures: reads all of them, which are few.
SELECT {row_columns} FROM {row_tables}
WHERE {failed_job:e} > '' AND {beyond:e.run_at,e.id,<,:at,:id} AND {history_condition:e}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: failures_up_to
-- The number of failed executions, up to a number.
SELECT count(*) FROM (
    SELECT 1 FROM {executions} AS e WHERE {failed_job:e} > '' LIMIT :most
) AS known

-- name: all_jobs
-- The jobs of executions: one probe of the index each.
all_jobs (job) AS (
    SELECT min(x.job) FROM {executions} AS x
    UNION ALL
    SELECT (SELECT min(x.job) FROM {executions} AS x WHERE x.job > all_jobs.job)
    FROM all_jobs WHERE all_jobs.job IS NOT NULL
)

-- name: history_condition
-- Whether a row {1} is in the period, states and kinds of a page.
{1}.run_at >= :since AND {1}.run_at <= :until
    AND {1}.state IN {list:states} AND {1}.kind IN {list:kinds}

-- name: latest_rows
-- The newest executions of each of these schedules.
SELECT {row_columns} FROM {each:ids} AS one
CROSS JOIN {executions} AS e ON e.id IN (
    SELECT x.id FROM {executions} AS x
    WHERE x.schedule_id = one.value ORDER BY x.run_at DESC, x.id DESC LIMIT :limit
)
{row_joins}

-- name: latest_ranges
-- The latest ranges of slots of a schedule.
SELECT schedule_id, first_at, last_at, slots, reason FROM {ranges}
WHERE schedule_id = :schedule_id AND first_at < :before
ORDER BY first_at DESC, number LIMIT :limit

-- name: rollups_of
-- The counts of a schedule's deleted executions.
SELECT schedule_id, day, state, kind, executions, microseconds FROM {rollups}
WHERE schedule_id = :schedule_id ORDER BY day, state, kind

-- Loading records of another store

-- name: known_executions
-- The executions among these that exist.
SELECT id FROM {executions} WHERE id IN {list:ids}

-- name: known_ranges
-- Ranges of schedules whose first slot lies in a period.
SELECT schedule_id, first_at, last_at, slots, reason FROM {ranges}
WHERE schedule_id IN {list:ids} AND first_at BETWEEN :earliest AND :latest

-- name: known_rollups
-- The days, states and kinds of which schedules have counts.
SELECT schedule_id, day, state, kind FROM {rollups} WHERE schedule_id IN {list:ids}

-- name: known_attempts
-- The attempts of executions; an orphan was late.
SELECT execution_id, fence, CASE ending WHEN 'orphan' THEN 'late' ELSE ending END
FROM {attempts} WHERE execution_id IN {list:ids}

-- name: known_logs
-- The runs of executions that have a log.
SELECT execution_id, fence FROM {run_logs} WHERE execution_id IN {list:ids}

-- name: known_actions
-- The actions among these that are in the log.
SELECT id FROM {actions} WHERE id IN {list:ids}

-- Health

-- name: is_outcome
-- Whether a row {1} is an outcome: an execution that succeeded, or failed for good.
{1}.finished_at IS NOT NULL AND {1}.state IN ('succeeded', 'failed')

-- name: schedules_failing
-- The number of schedules in a range of ids, the last id, and the schedules whose last outcome is
-- a failure: one probe of the index each.
WITH stretch AS (
    SELECT id, name FROM {schedules} WHERE id > :after AND deleted = 0 ORDER BY id LIMIT :limit
)
SELECT count(*), max(id), NULL FROM stretch
UNION ALL
SELECT 0, one.id, one.name FROM stretch AS one
WHERE (
    SELECT x.state FROM {executions} AS x {by_index:executions_finished}
    WHERE x.schedule_id = one.id AND {is_outcome:x} ORDER BY x.finished_at DESC LIMIT 1
) = 'failed'

-- name: outcome_rows
-- The last outcomes of each of these schedules.
SELECT {row_columns} FROM {each:ids} AS one
CROSS JOIN {executions} AS e ON e.id IN (
    SELECT x.id FROM {executions} AS x
    WHERE x.schedule_id = one.value AND {is_outcome:x} ORDER BY x.finished_at DESC LIMIT :limit
)
{row_joins}

-- name: failed_job_after
-- The next job with executions that failed for good.
SELECT min(x.job) FROM {executions} AS x
WHERE {failed_job:x} > :job

-- name: failures_of_job
-- The last executions of a job that failed for good.
SELECT {row_columns} FROM {row_tables}
WHERE {failed_job:e} = :job AND e.ended_at >= :since
ORDER BY e.ended_at DESC, e.id DESC LIMIT :limit

-- name: overdue_in_lane
-- The overdue rows that wait in a lane with a priority, the oldest ones, by job.
SELECT found.job, count(*), min(found.due_at) FROM (
    SELECT x.job, x.due_at FROM {executions} AS x {by_index:executions_lane}
    WHERE {waiting_lane:x} = :lane AND x.priority = :priority AND x.due_at <= :until
    ORDER BY x.due_at, x.id LIMIT :limit
) AS found
GROUP BY found.job

-- name: overdue_and_held
-- The overdue rows that a switch holds, by lane and job.
SELECT found.lane, found.job, count(*), min(found.due_at) FROM (
    SELECT x.lane, x.job, x.due_at FROM {executions} AS x
    WHERE x.held_by = :name AND x.held_by <> '' AND x.due_at <= :until LIMIT :limit
) AS found
GROUP BY found.lane, found.job

-- The log of actions

-- name: insert_action
-- Add an action to the log; an action of a known id stays as it is.
INSERT INTO {actions} (id, at, actor, verb, target, note, state_before, state_after)
VALUES (:id, :at, :actor, :verb, :target, :note, :state_before, :state_after)
{unless_known:id}

-- name: actions_page
-- A page of the log, newest first.
SELECT {action_columns} FROM {actions} AS a WHERE {action_condition}
ORDER BY a.id DESC LIMIT :limit

-- name: actions_of_target
-- A page of the actions on one target, newest first.
SELECT {action_columns} FROM {actions} AS a WHERE a.target = :target AND {action_condition}
ORDER BY a.id DESC LIMIT :limit

-- name: action_columns
-- The columns of an action.
a.id, a.at, a.actor, a.verb, a.target, a.note, a.state_before, a.state_after

-- name: action_condition
-- Whether an action comes after the last page, and has the verb, actor and period of the query.
a.id < :after AND a.at >= :since AND a.at <= :until
    AND (:verb = '' OR a.verb = :verb) AND (:actor = '' OR a.actor = :actor)

-- name: delete_actions
-- Delete the oldest actions before an instant.
{delete_before:actions,id,at}

-- name: volume
-- The version of the schema, counts of rows up to a number, and the ends of history.
SELECT version,
    (SELECT count(*) FROM (SELECT 1 FROM {schedules} WHERE deleted = 0 LIMIT :most) AS known),
    (SELECT count(*) FROM (SELECT 1 FROM {executions} LIMIT :most) AS known),
    (SELECT count(*) FROM (SELECT 1 FROM {ranges} LIMIT :most) AS known),
    (SELECT min(ended_at) FROM {executions} WHERE ended_at IS NOT NULL),
    (SELECT max(ended_at) FROM {executions} WHERE ended_at IS NOT NULL)
FROM {meta}

-- name: activity
-- The newest execution, the last end, and how many executions run, with the sum of their fences: a
-- start raises the sum, and an end lowers it.
SELECT
    (SELECT max(id) FROM {executions}),
    (SELECT max(ended_at) FROM {executions} WHERE ended_at IS NOT NULL),
    coalesce(sum(known.fence), 0), count(*)
FROM (
    SELECT e.fence FROM {executions} AS e WHERE {running_session:e} > '' LIMIT :most
) AS known
