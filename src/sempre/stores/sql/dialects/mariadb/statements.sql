-- Statements in MariaDB's own SQL. A `;` at the end of a line separates statements that run one
-- after another; the result is that of the last statement with rows. MariaDB has no partial
-- index: generated columns, which are NULL in all other rows, are indexed instead.

-- Pieces

-- name: each
-- A table with a column `value`: the texts of a JSON array.
JSON_TABLE(:{1}_json, '$[*]' COLUMNS (value varchar(500) {binary} PATH '$'))

-- name: pairs
-- A table with columns `word` and `number`: the pairs of a JSON array.
JSON_TABLE(
    :{1}_json, '$[*]' COLUMNS (word varchar(255) {binary} PATH '$[0]', number bigint PATH '$[1]')
)

-- name: documents
-- A table with columns `word` and `document`: the pairs of a JSON array.
JSON_TABLE(
    :{1}_json, '$[*]'
    COLUMNS (word varchar(255) {binary} PATH '$[0]', document mediumtext PATH '$[1]')
)

-- name: binary
-- Compares texts as the columns of the store do.
CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin

-- name: list
-- Texts as a list of literals, written by the driver: MariaDB probes an index only for literals.
:{1}

-- name: position
-- Where text {1} has text {2}, from 1; 0 if nowhere.
LOCATE({2}, {1})

-- name: by_id
-- A hint to find rows by their primary key. Without the hint, MariaDB reads a small table as a
-- whole, and waits for rows that other transactions have locked.
FORCE INDEX (PRIMARY)

-- name: by_index
-- A hint to find rows by an index.
FORCE INDEX ({prefix}{1})

-- name: in_turn
-- A join whose left side is read first.
STRAIGHT_JOIN

-- name: waiting_lane
-- The lane of a row {1} that waits and is not held.
{1}.waiting_lane

-- name: active_of
-- The schedule of a row {1} that waits or runs.
{1}.active_of

-- name: active_key
-- The unique key of a row {1} that waits or runs.
{1}.active_key

-- name: running_session
-- The session of a row {1} that runs.
{1}.running_session

-- name: failed_job
-- The job of a row {1} that failed for good.
{1}.failed_job

-- name: beyond
-- Whether a pair comes after or before another: MariaDB uses no index range to compare pairs.
{1} {3}= {4} AND ({1} {3} {4} OR ({1} = {4} AND {2} {3} {5}))

-- name: runs_under
-- The condition that a row {1} runs under a limit {2}.
{1}.limit_place = CONCAT('runs ', {2})

-- name: waits_under
-- The condition that a row {1} waits, is not held, and has {2} as the key of its first limit.
{1}.limit_place = CONCAT('waits ', {2})

-- name: update_rows
-- Update rows of table {1} by their ids: the columns of list {2}, given as a JSON array.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (
    id varchar(255) {binary} PATH '$.id', {json_table:{2}}
)) AS r
STRAIGHT_JOIN {{1}} AS e {by_id} ON e.id = r.id
SET {changes:{2} of e from r}

-- name: upsert
-- The beginning of the changes that an INSERT makes to an existing row.
ON DUPLICATE KEY UPDATE

-- name: new
-- The value of column {1} that an INSERT would have written.
VALUES({1})

-- name: unless_known
-- Makes an INSERT skip a row that exists, and locks the row.
ON DUPLICATE KEY UPDATE {1} = VALUES({1})

-- name: lock_turning
-- Wait for transactions that have read which switches are off.
SELECT id FROM {meta} FOR UPDATE;

-- name: delete_before
-- Delete rows of table {1} with key {2} that column {3} dates before an instant, oldest first.
DELETE FROM {{1}} WHERE {3} < :before ORDER BY {3}, {2} LIMIT :limit

-- name: state_itself
-- The state: by_id keeps MariaDB from using an index of states.
state

-- Statements

-- name: lane_after
-- The next lane with a waiting row.
SELECT min(x.waiting_lane) FROM {executions} AS x WHERE x.waiting_lane > :lane

-- name: due
-- The due rows of one lane and priority.
SELECT x.id, x.due_at FROM {executions} AS x {by_index:executions_lane}
WHERE {due_condition::lane,:priority} ORDER BY x.due_at, x.id LIMIT :limit

-- name: due_to_take
-- Lock the due one-off rows of one lane and priority, without locked rows.
SELECT {taken_columns} FROM {executions} AS found {by_index:executions_lane}
WHERE {free_condition:found,:lane,:priority}
ORDER BY found.due_at, found.id LIMIT :limit {lock_free}

-- name: name_before_shard
-- The name of a row x without the number at its end, such as the number of a pair's shard.
REGEXP_REPLACE(x.name, '[0-9]+$', '')

-- name: is_waiting
-- Whether a row x waits and is not held.
x.waiting_lane IS NOT NULL

-- name: expired_run
-- A running execution whose session is deleted, or is another session without a valid lease.
SELECT 1 FROM {executions} AS e LEFT JOIN {sessions} AS w ON w.id = e.running_session
WHERE e.running_session IS NOT NULL
    AND (w.id IS NULL OR (w.leased_until <= clock.now AND w.id <> :session))

-- name: view_bounds
-- The bounds of view_rows: cursors of schedules, and when their earliest waiting rows are due.
SELECT c.id, c.cursor_at, (
    SELECT y.due_at FROM {executions} AS y {by_index:executions_active}
    WHERE y.active_of = c.id AND y.state IN ('pending', 'scheduled')
    ORDER BY y.due_at LIMIT 1
)
FROM {schedules} AS c WHERE c.id IN {list:ids}

-- name: after_cursor
-- A range of view_rows: executions after the cursor of a schedule.
e.schedule_id = :id AND e.run_at > :at

-- name: after_due
-- A range of view_rows: executions that ended after the earliest waiting row was due.
e.schedule_id = :id AND e.finished_at > :at

-- name: view_rows
-- The executions that planning reads: waiting and running ones, those with a slot after the cursor,
-- and those that ended after the earliest waiting one was due.
SELECT {row_columns} FROM {row_tables}
WHERE e.active_of IN {list:ids}
UNION ALL
SELECT {row_columns} FROM {row_tables}
WHERE (:after_cursors)
    AND e.slot_at IS NOT NULL AND e.state NOT IN ('pending', 'scheduled', 'running')
UNION ALL
SELECT {row_columns} FROM {row_tables}
WHERE (:after_dues) AND e.state NOT IN ('pending', 'scheduled', 'running')

-- name: raise_fences
-- Raise new fences above a fence that was handed out elsewhere; the sequence never goes back.
SELECT SETVAL({fences}, :fence)

-- name: next_fences
-- Hand out :count new fences; the rows that get the fences are already locked.
SELECT NEXTVAL({fences}) FROM JSON_TABLE(
    CONCAT('[0', REPEAT(',0', :count - 1), ']'), '$[*]' COLUMNS (number FOR ORDINALITY)
) AS one

-- name: lock_switches
-- A transaction that turns a switch waits for this one; transactions that read switches do not.
SELECT id FROM {meta} LOCK IN SHARE MODE

-- name: has_meta
-- Whether the table of the store's identity exists.
SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = :table

-- name: now
-- The server's clock at this moment, whatever the time zone of the session.
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))

-- name: lock_schema
-- One process at a time changes the schema; MariaDB commits each change at once.
SELECT GET_LOCK(CONCAT('sempre ', DATABASE(), ' ', :name), :seconds)

-- name: unlock_schema
-- The next process may change the schema.
SELECT RELEASE_LOCK(CONCAT('sempre ', DATABASE(), ' ', :name))

-- name: hold_key
-- Note the newest execution of each key; rows are given as a JSON array.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (
    unique_key varchar(500) {binary} PATH '$.unique_key',
    execution_id varchar(255) PATH '$.execution_id', failures bigint PATH '$.failures'
)) AS r
STRAIGHT_JOIN {unique_keys} AS k {by_id} ON k.unique_key = r.unique_key
SET k.execution_id = r.execution_id, k.failures = r.failures

-- name: start_taken
-- Start executions, each under its own fence; given as pairs of id and fence. The time zone data
-- are those of the plan that starts the executions, if a plan exists.
UPDATE {pairs:claims} AS one STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = one.word
SET
    e.state = 'running', e.attempt = e.attempt + 1, e.reason = '', e.started_at = :now,
    e.session = :session, e.first_started_at = coalesce(e.first_started_at, :now),
    e.fence = one.number, e.tzdata = coalesce(:tzdata, e.tzdata)

-- name: end_successes
-- End executions of a session as successes, if they run under these fences; given as pairs of id
-- and fence.
UPDATE {pairs:claims} AS one
STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = one.word AND e.fence = one.number
SET e.state = 'succeeded', e.reason = '', e.finished_at = :at, e.ended_at = :at
WHERE e.state = 'running' AND e.session = :session

-- name: delete_executions
-- Delete executions: a DELETE from one table accepts no hint.
DELETE e FROM {each:ids} AS one STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = one.value

-- name: rows_unannounced
-- Pending rows that are due by an instant: the broker has not announced them.
SELECT e.id, e.due_at, e.queue, e.priority, e.attempt FROM {executions} AS e
WHERE e.unrung_at <= :until ORDER BY e.unrung_at, e.id LIMIT :limit

-- name: rows_expired
-- Running executions whose session is deleted or has lost its lease.
SELECT {row_columns} FROM {row_tables}
WHERE e.running_session IS NOT NULL AND (w.id IS NULL OR w.leased_until <= :now)
ORDER BY e.running_session, e.id LIMIT :limit

-- name: lock_schedules_of
-- Lock the schedules of executions, before the executions are changed.
SELECT c.id FROM (
    SELECT DISTINCT e.schedule_id FROM {executions} AS e {by_id}
    WHERE e.id IN {list:ids} AND e.schedule_id IS NOT NULL
) AS found
STRAIGHT_JOIN {schedules} AS c {by_id} ON c.id = found.schedule_id ORDER BY c.id {lock}

-- name: cancel_live
-- Cancel waiting executions, and return their ids: an UPDATE returns no rows.
SELECT id FROM {executions} {by_id}
WHERE id IN {list:ids} AND state IN ('pending', 'scheduled') {lock};
UPDATE {executions} {by_id} SET
    state = 'cancelled', reason = 'requested', actor = :actor, finished_at = :now, ended_at = :now
WHERE id IN {list:ids} AND state IN ('pending', 'scheduled')

-- name: note_report
-- Store the progress of a run; a late report of an earlier claim is ignored. The fence is written
-- last, because the changes of the other columns compare the old fence.
INSERT INTO {reports} (execution_id, fence, told_at, report)
VALUES (:execution_id, :fence, :told_at, :report)
ON DUPLICATE KEY UPDATE
    told_at = IF(fence <= VALUES(fence), VALUES(told_at), told_at),
    report = IF(fence <= VALUES(fence), VALUES(report), report),
    fence = GREATEST(fence, VALUES(fence))

-- name: begin_pass
-- Begin the pass if it is due (see Pass.is_due): of two transactions, one gets a row.
INSERT INTO {passes} (id, due_at, holder, finished_at, report)
VALUES (1, :now, :holder, NULL, '{}') ON DUPLICATE KEY UPDATE id = VALUES(id);
SELECT :due_at, :holder, finished_at, report FROM {passes}
WHERE due_at <= :now OR due_at > :farthest {lock};
UPDATE {passes} SET due_at = :due_at, holder = :holder WHERE due_at <= :now OR due_at > :farthest

-- name: delete_orphans
-- Delete results of executions that were deleted earlier: no other row refers to these results.
DELETE FROM {attempts} WHERE orphaned_at < :before ORDER BY orphaned_at, number LIMIT :limit

-- name: own_retentions
-- The retentions that schedules have of their own: of a bound that is read from another table
-- MariaDB makes no range, but it skips through an index for distinct values.
SELECT DISTINCT c.retention FROM {schedules} AS c {by_index:schedules_retention}
WHERE c.retention > 0 ORDER BY c.retention

-- name: pushed_out
-- Ended executions of one schedule that finished before an instant; several are joined by UNION.
SELECT {purged_columns:x} FROM {executions} AS x {by_index:executions_finished}
JOIN {schedules} AS c ON c.id = x.schedule_id
WHERE x.schedule_id = :word AND x.finished_at < :number
    AND x.ended_at IS NOT NULL AND {is_past:x}
ORDER BY x.finished_at, x.id LIMIT :limit

-- name: latest_rows
-- The newest executions of one schedule; several are joined by UNION.
SELECT {row_columns} FROM {row_tables}
WHERE e.schedule_id = :schedule_id ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_all
-- A page of all executions.
SELECT {row_columns} FROM {row_tables}
WHERE {beyond:e.run_at,e.id,<,:at,:id} AND {history_condition:e}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: outcome_rows
-- The last outcomes of one schedule; several are joined by UNION.
SELECT {row_columns} FROM {row_tables}
WHERE e.schedule_id = :schedule_id AND {is_outcome:e} ORDER BY e.finished_at DESC LIMIT :limit

-- name: failed_job_after
-- The next job with executions that failed for good.
SELECT min(x.failed_job) FROM {executions} AS x WHERE x.failed_job > :job
