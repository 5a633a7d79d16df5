-- What MariaDB says in its own way. A `;` at the end of a line separates statements that are run
-- one after another; the rows are those of the last one that gives any. There are no indexes of
-- only some rows: the columns that are NULL in the others are asked for instead.

-- name: lock
-- Nobody else changes these rows before this transaction ends.
FOR UPDATE

-- name: lock_free
-- The same for rows that nobody else has.
FOR UPDATE SKIP LOCKED

-- name: by_id
-- A small table would be read as a whole, and that waits for rows that are locked by others.
FORCE INDEX (PRIMARY)

-- name: state_itself
-- The state; ids are used in any case.
state

-- name: lock_keys
-- Nothing: who has reserved the keys has locked them.
SELECT 1

-- name: waiting_rows
-- What waits in a lane with a priority, due by an instant, after a place.
SELECT x.id, x.due_at, x.attempt, x.state
FROM {executions} AS x FORCE INDEX ({prefix}executions_lane)
WHERE x.waiting_lane = :lane AND x.priority = :priority AND x.due_at <= :until
    AND (x.due_at > :at OR (x.due_at = :at AND x.id > :id))
ORDER BY x.due_at, x.id LIMIT :limit

-- name: lanes
-- The priorities that rows wait with, lane by lane: one probe of the index each.
lanes (lane, priority) AS (
    SELECT one.value, (
        SELECT x.priority FROM {executions} AS x FORCE INDEX ({prefix}executions_lane)
        WHERE x.waiting_lane = one.value ORDER BY x.priority LIMIT 1
    )
    FROM {each:lanes} AS one
    UNION ALL
    SELECT lanes.lane, (
        SELECT x.priority FROM {executions} AS x FORCE INDEX ({prefix}executions_lane)
        WHERE x.waiting_lane = lanes.lane AND x.priority > lanes.priority
        ORDER BY x.priority LIMIT 1
    )
    FROM lanes WHERE lanes.priority IS NOT NULL
)

-- name: lane_after
-- The next lane that anything waits in.
SELECT min(x.waiting_lane) FROM {executions} AS x WHERE x.waiting_lane > :lane

-- name: due
-- Rows of a lane and priority that are due.
SELECT x.id, x.due_at FROM {executions} AS x FORCE INDEX ({prefix}executions_lane)
WHERE {due_condition} ORDER BY x.due_at, x.id LIMIT :limit

-- name: due_to_take
-- The same as rows themselves, past those that others hold.
SELECT {taken_columns} FROM {executions} AS found FORCE INDEX ({prefix}executions_lane)
WHERE found.waiting_lane = :lane AND found.priority = :priority AND found.due_at <= :now
    AND found.job IN (SELECT value FROM {each:jobs})
ORDER BY found.due_at, found.id LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: due_condition
-- A row x of a lane that is due, wanted, not held, and not stopped by a switch: manual ones never
-- are.
x.waiting_lane = :lane AND x.priority = :priority AND x.due_at <= :now
    AND x.job IN (SELECT value FROM {each:jobs})
    AND (
        x.kind = 'manual' OR (
            x.job NOT IN (SELECT value FROM {each:stopped_jobs})
            AND x.name NOT IN (SELECT value FROM {each:stopped_names})
            AND {name_before_shard} NOT IN (SELECT value FROM {each:stopped_shards})
            AND NOT EXISTS (
                SELECT 1 FROM {each:stopped_tags} AS tag
                JOIN {schedules} AS c ON c.id = x.schedule_id AND {position:c.tags,tag.value} > 0
            )
        )
    )

-- name: name_before_shard
-- The name of a row x without the number at its end, such as that of a pair's shard.
REGEXP_REPLACE(x.name, '[0-9]+$', '')

-- name: is_waiting
-- A row x waits, and is not held.
x.waiting_lane IS NOT NULL

-- name: first_due
-- When the next row is due, as a value, where the lanes are known.
(
    SELECT min((
        SELECT x.due_at FROM {executions} AS x FORCE INDEX ({prefix}executions_lane)
        WHERE x.waiting_lane = lanes.lane AND x.priority = lanes.priority
            AND x.job IN (SELECT value FROM {each:jobs}) AND x.due_at > :since
        ORDER BY x.due_at LIMIT 1
    ))
    FROM lanes WHERE lanes.priority IS NOT NULL
)

-- name: expired_run
-- A running execution whose session is gone or has lost its lease by the clock.
SELECT 1 FROM {executions} AS e LEFT JOIN {sessions} AS w ON w.id = e.running_session
WHERE e.running_session IS NOT NULL
    AND (w.id IS NULL OR (w.leased_until <= clock.now AND w.id <> :session))

-- name: view_bounds
-- From where on planning looks at schedules: the cursor, and when the earliest waiting row is due.
SELECT c.id, c.cursor_at, (
    SELECT y.due_at FROM {executions} AS y FORCE INDEX ({prefix}executions_active)
    WHERE y.active_of = c.id AND y.state IN ('pending', 'scheduled')
    ORDER BY y.due_at LIMIT 1
)
FROM {schedules} AS c WHERE c.id IN (SELECT value FROM {each:ids})

-- name: view_rows
-- The rows that planning looks at; what is beyond a bound is put in as a range for each schedule.
SELECT {row_columns} FROM {row_tables}
WHERE e.active_of IN (SELECT value FROM {each:ids})
UNION ALL
SELECT {row_columns} FROM {row_tables}
WHERE (:beyond_cursor)
    AND e.slot_at IS NOT NULL AND e.state NOT IN ('pending', 'scheduled', 'running')
UNION ALL
SELECT {row_columns} FROM {row_tables}
WHERE (:beyond_due) AND e.state NOT IN ('pending', 'scheduled', 'running')

-- name: active_row
-- A row x of a schedule `one` that waits or runs.
x.active_of = one.id

-- name: raise_fences
-- Fences go on above one that was given elsewhere; they never go back.
SELECT SETVAL({fences}, :fence)

-- name: next_fences
-- As many new fences as are wanted; called when the rows that get them are locked.
SELECT NEXTVAL({fences}) FROM JSON_TABLE(
    CONCAT('[0', REPEAT(',0', :count - 1), ']'), '$[*]' COLUMNS (number FOR ORDINALITY)
) AS one

-- name: lock_switches
-- Whoever turns a switch waits for this transaction; those who only ask share the lock.
SELECT id FROM {meta} LOCK IN SHARE MODE

-- name: turn_off
-- A switch stops its target.
SELECT id FROM {meta} FOR UPDATE;
INSERT INTO {switches} (name, target, mode, reason, actor, until_at)
VALUES (:name, :target, :mode, :reason, :actor, :until_at)
ON DUPLICATE KEY UPDATE
    target = VALUES(target), mode = VALUES(mode), reason = VALUES(reason),
    actor = VALUES(actor), until_at = VALUES(until_at)

-- name: turn_on
-- A switch stops nothing any more.
SELECT id FROM {meta} FOR UPDATE;
DELETE FROM {switches} WHERE name = :name

-- name: count_rejections
-- A switch has refused some work.
INSERT INTO {rejections} (name, refused) VALUES (:name, :refused)
ON DUPLICATE KEY UPDATE refused = refused + VALUES(refused)

-- name: has_meta
-- Whether the table of the store's identity exists.
SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = :table

-- name: now
-- The server's clock when it is asked, in whatever zone the session is.
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))

-- name: lock_schema
-- One process at a time changes the schema; MariaDB commits each change at once.
SELECT GET_LOCK(CONCAT('sempre ', DATABASE(), ' ', :name), :seconds)

-- name: unlock_schema
-- The next process may.
SELECT RELEASE_LOCK(CONCAT('sempre ', DATABASE(), ' ', :name))

-- name: insert_snapshot
-- What the executions of a revision run.
INSERT INTO {snapshots} (schedule_id, revision, rules, args)
VALUES (:schedule_id, :revision, :rules, :args)
ON DUPLICATE KEY UPDATE revision = VALUES(revision)

-- name: insert_alike
-- Executions come into being that differ in id and arguments only; what is there already stays.
INSERT INTO {executions} ({execution_columns})
SELECT {alike_values}
FROM {documents:documents} AS one
ON DUPLICATE KEY UPDATE id = VALUES(id)

-- name: update_execution
-- Executions after changes that were checked, given as a JSON array.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (
    id varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.id',
    state varchar(40) PATH '$.state', due_at bigint PATH '$.due_at',
    reason mediumtext PATH '$.reason', actor mediumtext PATH '$.actor',
    attempt bigint PATH '$.attempt', failures bigint PATH '$.failures',
    crashes bigint PATH '$.crashes', first_started_at bigint PATH '$.first_started_at',
    started_at bigint PATH '$.started_at', finished_at bigint PATH '$.finished_at',
    ended_at bigint PATH '$.ended_at', fence bigint PATH '$.fence',
    session varchar(255) PATH '$.session', held_by varchar(255) PATH '$.held_by',
    tzdata varchar(255) PATH '$.tzdata'
)) AS r
STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = r.id
SET
    e.state = r.state, e.due_at = r.due_at, e.reason = r.reason, e.actor = r.actor,
    e.attempt = r.attempt, e.failures = r.failures, e.crashes = r.crashes,
    e.first_started_at = r.first_started_at, e.started_at = r.started_at,
    e.finished_at = r.finished_at, e.ended_at = r.ended_at, e.fence = r.fence,
    e.session = r.session, e.held_by = r.held_by, e.tzdata = r.tzdata

-- name: hold_key
-- The keys are other executions' now, given as a JSON array.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (
    unique_key varchar(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.unique_key',
    execution_id varchar(255) PATH '$.execution_id', failures bigint PATH '$.failures'
)) AS r
STRAIGHT_JOIN {unique_keys} AS k {by_id} ON k.unique_key = r.unique_key
SET k.execution_id = r.execution_id, k.failures = r.failures

-- name: start_taken
-- Executions begin, each under a fence of its own; given as pairs of id and fence.
UPDATE {pairs:claims} AS one STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = one.word
SET
    e.state = 'running', e.attempt = e.attempt + 1, e.reason = '', e.started_at = :now,
    e.session = :session, e.first_started_at = coalesce(e.first_started_at, :now),
    e.fence = one.number

-- name: end_successes
-- Executions did their work, as long as they run under a session and by these fences; given as
-- pairs of id and fence.
UPDATE {pairs:claims} AS one
STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = one.word AND e.fence = one.number
SET e.state = 'succeeded', e.reason = '', e.finished_at = :at, e.ended_at = :at
WHERE e.state = 'running' AND e.session = :session

-- name: succeeded_among
-- Which of these claims have ended so, now or before; given as pairs of id and fence.
SELECT e.id, e.fence FROM {pairs:claims} AS one
STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = one.word AND e.fence = one.number
WHERE e.state = 'succeeded'

-- name: move_schedule
-- Schedules as claims or reconciles moved them on, given as a JSON array.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (
    id varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.id',
    cursor_at bigint PATH '$.cursor_at', revision bigint PATH '$.revision',
    starts bigint PATH '$.starts', started bigint PATH '$.started',
    broken mediumtext PATH '$.broken', ended bigint PATH '$.ended',
    next_run_at bigint PATH '$.next_run_at', audit_stamp varchar(255) PATH '$.audit_stamp'
)) AS r
STRAIGHT_JOIN {schedules} AS c {by_id} ON c.id = r.id
SET
    c.cursor_at = r.cursor_at, c.revision = r.revision, c.starts = r.starts,
    c.started = r.started, c.broken = r.broken, c.ended = r.ended,
    c.next_run_at = r.next_run_at, c.audit_stamp = r.audit_stamp

-- name: guarded_schedules
-- What a plan's base is compared with; schedules are always locked first, in order of id.
SELECT id, revision, starts, cursor_at FROM {schedules} {by_id}
WHERE id IN (SELECT value FROM {each:ids}) ORDER BY id {lock}

-- name: guarded_executions
-- What a plan's changes are compared with.
SELECT
    id, state, attempt, fence, held_by, session, due_at, unique_key, unique_mode, unique_period,
    CASE WHEN schedule_id IS NOT NULL THEN rules END,
    CASE WHEN schedule_id IS NOT NULL THEN args END
FROM {executions} {by_id}
WHERE id IN (SELECT value FROM {each:ids}) ORDER BY id {lock}

-- name: mark_rung
-- The broker was told.
UPDATE {executions} {by_id} SET state = 'scheduled'
WHERE id IN (SELECT value FROM {each:ids}) AND state = 'pending'

-- name: delete_executions
-- Forget executions.
DELETE e FROM {each:ids} AS one STRAIGHT_JOIN {executions} AS e {by_id} ON e.id = one.value

-- name: rows_unrung
-- Rows that the broker has not been told of, and that are due soon.
SELECT e.id, e.due_at, e.queue, e.priority, e.attempt FROM {executions} AS e
WHERE e.unrung_at <= :until ORDER BY e.unrung_at, e.id LIMIT :limit

-- name: rows_expired
-- Running executions whose session is gone or has lost its lease.
SELECT {row_columns} FROM {row_tables}
WHERE e.running_session IS NOT NULL AND (w.id IS NULL OR w.leased_until <= :now)
ORDER BY e.running_session, e.id LIMIT :limit

-- name: rows_running
-- What runs under a session.
SELECT {row_columns} FROM {row_tables}
WHERE e.running_session = :session
ORDER BY e.fence

-- name: lock_schedules_of
-- The schedules of executions, before the executions themselves are changed.
SELECT c.id FROM (
    SELECT DISTINCT e.schedule_id FROM {executions} AS e {by_id}
    WHERE e.id IN (SELECT value FROM {each:ids}) AND e.schedule_id IS NOT NULL
) AS found
STRAIGHT_JOIN {schedules} AS c {by_id} ON c.id = found.schedule_id ORDER BY c.id {lock}

-- name: cancel_live
-- End what still waits.
SELECT id FROM {executions} {by_id}
WHERE id IN (SELECT value FROM {each:ids}) AND state IN ('pending', 'scheduled') {lock};
UPDATE {executions} {by_id} SET
    state = 'cancelled', reason = 'requested', actor = :actor, finished_at = :now, ended_at = :now
WHERE id IN (SELECT value FROM {each:ids}) AND state IN ('pending', 'scheduled')

-- name: ask_to_cancel
-- Ask the holders of what runs to end it.
INSERT INTO {cancellations} (execution_id, fence, actor, asked_at)
SELECT id, fence, :actor, :now FROM {executions}
WHERE id IN (SELECT value FROM {each:ids}) AND state = 'running'
ON DUPLICATE KEY UPDATE fence = VALUES(fence), actor = VALUES(actor)
RETURNING execution_id

-- name: held_claims
-- What a session holds, by fence, and which of it somebody wants to end in this very attempt.
SELECT e.fence, asked.execution_id FROM {executions} AS e
LEFT JOIN {cancellations} AS asked ON asked.execution_id = e.id AND asked.fence = e.fence
WHERE e.running_session = :session

-- name: claims_under
-- What runs under a session, by id and fence.
SELECT e.id, e.fence FROM {executions} AS e WHERE e.running_session = :session

-- name: note_report
-- How far a run has come; one of an earlier claim that comes late changes nothing. The fence is
-- compared until it is written, which comes last.
INSERT INTO {reports} (execution_id, fence, told_at, report)
VALUES (:execution_id, :fence, :told_at, :report)
ON DUPLICATE KEY UPDATE
    told_at = IF(fence <= VALUES(fence), VALUES(told_at), told_at),
    report = IF(fence <= VALUES(fence), VALUES(report), report),
    fence = GREATEST(fence, VALUES(fence))

-- name: insert_attempt
-- How a try ended; told again, it is known already.
INSERT INTO {attempts} (
    execution_id, fence, session, started_at, finished_at, state, result, error, ending
) VALUES (
    :execution_id, :fence, :session, :started_at, :finished_at, :state, :result, :error, :ending
) ON DUPLICATE KEY UPDATE ending = VALUES(ending)

-- name: reserve_keys
-- Make sure that each key has a row, and lock it: two who want the same one queue up here.
INSERT INTO {unique_keys} (unique_key, execution_id)
SELECT one.value, '' FROM {each:keys} AS one ORDER BY one.value
ON DUPLICATE KEY UPDATE unique_key = VALUES(unique_key)

-- name: keyed_rows
-- What waits or runs of these keys, and the newest of each, whatever has become of it.
SELECT x.unique_key, x.id, x.state, x.created_at, 0, 0, x.finished_at FROM {executions} AS x
WHERE x.active_key IN (SELECT value FROM {each:keys})
UNION ALL
SELECT k.unique_key, e.id, e.state, e.created_at, 1, k.failures, e.finished_at
FROM {unique_keys} AS k JOIN {executions} AS e ON e.id = k.execution_id
WHERE k.unique_key IN (SELECT value FROM {each:keys})

-- name: register_session
-- A session begins.
INSERT INTO {sessions} (
    id, host, pid, queues, jobs, tzdata, release_number, started_at, leased_until
) VALUES (
    :id, :host, :pid, :queues, :jobs, :tzdata, :release_number, :started_at, :leased_until
) ON DUPLICATE KEY UPDATE
    host = VALUES(host), pid = VALUES(pid), queues = VALUES(queues), jobs = VALUES(jobs),
    tzdata = VALUES(tzdata), release_number = VALUES(release_number),
    started_at = VALUES(started_at), leased_until = VALUES(leased_until)

-- name: begin_pass
-- Take the pass, if it is due (see Pass.is_due): of two who try, one gets a row back.
INSERT INTO {passes} (id, due_at, holder, finished_at, report)
VALUES (1, :now, :holder, NULL, '{}') ON DUPLICATE KEY UPDATE id = VALUES(id);
SELECT :due_at, :holder, finished_at, report FROM {passes}
WHERE due_at <= :now OR due_at > :farthest {lock};
UPDATE {passes} SET due_at = :due_at, holder = :holder WHERE due_at <= :now OR due_at > :farthest

-- name: delete_ranges
-- Forget stretches of slots.
DELETE FROM {ranges} WHERE last_at < :before ORDER BY last_at, number LIMIT :limit

-- name: delete_orphans
-- Forget results that came for executions that were gone: nothing else leads to them.
DELETE FROM {attempts} WHERE orphaned_at < :before ORDER BY orphaned_at, number LIMIT :limit

-- name: delete_sessions
-- Forget sessions that lost their lease, as those of crashed workers do.
DELETE FROM {sessions} WHERE leased_until < :before ORDER BY leased_until, id LIMIT :limit

-- name: add_to_rollup
-- Keep the counts of what is forgotten.
INSERT INTO {rollups} (schedule_id, day, state, executions, microseconds)
VALUES (:schedule_id, :day, :state, :executions, :microseconds)
ON DUPLICATE KEY UPDATE
    executions = executions + VALUES(executions),
    microseconds = microseconds + VALUES(microseconds)

-- name: history_of_schedule
-- A page of a schedule's executions, newest slot first.
SELECT {row_columns} FROM {row_tables}
WHERE e.schedule_id = :schedule_id AND {history_condition}
    AND (:job = '' OR e.job = :job)
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: latest_rows
-- The newest executions of a schedule; for several, they are put together.
SELECT {row_columns} FROM {row_tables}
WHERE e.schedule_id = :schedule_id ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_job
-- A page of a job's executions.
SELECT {row_columns} FROM {row_tables}
WHERE e.job = :job AND {history_condition}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_of_all
-- A page of all executions.
SELECT {row_columns} FROM {row_tables}
WHERE {history_condition}
ORDER BY e.run_at DESC, e.id DESC LIMIT :limit

-- name: history_condition
-- After the last page, which an index finds if it is said like this; and what else can be asked.
e.run_at <= :at AND (e.run_at < :at OR e.id < :id)
    AND e.run_at >= :since AND e.run_at <= :until
    AND e.state IN (SELECT value FROM {each:states})
    AND e.kind IN (SELECT value FROM {each:kinds})

-- name: occupied_slots
-- The rows that hold a slot, or are an active backfill of it, at pairs of schedule and instant.
SELECT x.id, x.schedule_id, x.run_at, x.kind, x.state, x.first_started_at, x.tzdata
FROM {pairs:slots} AS one
STRAIGHT_JOIN {executions} AS x FORCE INDEX ({prefix}executions_of_schedule)
    ON x.schedule_id = one.word AND x.run_at = one.number
WHERE x.slot_at IS NOT NULL OR x.backfill_at IS NOT NULL
