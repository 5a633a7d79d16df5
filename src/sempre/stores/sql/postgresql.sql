-- What PostgreSQL says in its own way.

-- name: lock
-- Nobody else changes these rows before this transaction ends.
FOR UPDATE

-- name: lock_keys
-- Nobody else takes these keys before this transaction ends.
FOR UPDATE OF k

-- name: due
-- The ids of rows that are due, most urgent first.
WITH RECURSIVE {lanes}
SELECT found.id FROM lanes
CROSS JOIN LATERAL (
    SELECT x.id, x.priority, x.due_at FROM {executions} AS x WHERE {due_condition}
    ORDER BY x.due_at, x.id LIMIT :limit
) AS found
WHERE lanes.priority IS NOT NULL
ORDER BY found.priority, found.due_at, found.id LIMIT :limit

-- name: due_to_take
-- The same, past rows that others hold.
WITH RECURSIVE {lanes}
SELECT found.id FROM lanes
CROSS JOIN LATERAL (
    SELECT x.id, x.priority, x.due_at FROM {executions} AS x WHERE {due_condition}
    ORDER BY x.due_at, x.id LIMIT :limit FOR UPDATE OF x SKIP LOCKED
) AS found
WHERE lanes.priority IS NOT NULL
ORDER BY found.priority, found.due_at, found.id LIMIT :limit

-- name: next_fences
-- As many new fences as are wanted; called when the rows that get them are locked.
SELECT nextval('{fences}') FROM generate_series(1, :count)

-- name: lock_switches
-- Whoever turns a switch waits for this transaction; those who only ask share the lock.
LOCK TABLE {switches} IN SHARE MODE

-- name: has_meta
-- Whether the store was ever set up.
SELECT 1 WHERE to_regclass(:table) IS NOT NULL

-- name: now
-- The server's clock, as it is at this very moment and not when the transaction began.
SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000000) AS bigint)

-- name: lock_schema
-- One process at a time changes the schema.
SELECT pg_advisory_xact_lock(hashtext(:name))

-- name: create_schema
-- The schema that the tables are in.
CREATE SCHEMA IF NOT EXISTS {schema}

-- name: is_standby
-- Whether this server only follows another one.
SELECT pg_is_in_recovery()
