-- Statements in SQLite's own SQL.

-- name: lock
-- Empty: a transaction that writes locks the whole file from its beginning.

-- name: lock_free
-- Empty: a transaction that writes locks the whole file from its beginning.

-- name: each
-- A table with a column `value`: the texts of a JSON array.
json_each(:{1})

-- name: pairs
-- A table with columns `word` and `number`: the pairs of a JSON array.
(
    SELECT json_extract(value, '$[0]') AS word, json_extract(value, '$[1]') AS number
    FROM json_each(:{1})
)

-- name: documents
-- A table with columns `word` and `document`: the keys and values of a JSON object.
(SELECT key AS word, value AS document FROM json_each(:{1}))

-- name: position
-- Where text {1} has text {2}, from 1; 0 if nowhere.
instr({1}, {2})

-- name: due_in_lanes
-- The ids of due rows, up to :limit of each lane.
WITH RECURSIVE {lanes}
SELECT e.id FROM lanes
JOIN {executions} AS e ON e.id IN (
    SELECT x.id FROM {executions} AS x WHERE {due_condition:lanes.lane,lanes.priority}
    ORDER BY x.due_at, x.id LIMIT :limit
)
WHERE lanes.priority IS NOT NULL

-- name: due
-- The ids of due rows, most urgent first.
{due_in_lanes} ORDER BY e.priority, e.due_at, e.id LIMIT :limit

-- name: free_in_lanes
-- Due one-off rows, up to :limit of each lane.
WITH RECURSIVE {lanes}
SELECT {taken_columns} FROM lanes
JOIN {executions} AS found ON found.rowid IN (
    SELECT x.rowid FROM {executions} AS x WHERE {free_condition:x,lanes.lane,lanes.priority}
    ORDER BY x.due_at, x.id LIMIT :limit
)
WHERE lanes.priority IS NOT NULL

-- name: due_to_take
-- Due one-off rows, most urgent first.
{free_in_lanes} ORDER BY found.priority, found.due_at, found.id LIMIT :limit

-- name: overdue
-- The ids of due rows, oldest first.
{due_in_lanes} ORDER BY e.due_at, e.id LIMIT :limit

-- name: overdue_to_take
-- Due one-off rows, oldest first.
{free_in_lanes} ORDER BY found.due_at, found.id LIMIT :limit

-- name: next_fences
-- Hand out :count new fences; the row has the last fence.
UPDATE {meta} SET fence = fence + :count RETURNING fence

-- name: lock_switches
-- No lock is needed: a transaction that turns a switch waits for this one.
SELECT 1

-- name: settle_on_state
-- Any read: the first read of a transaction fixes the snapshot of the file.
SELECT 1 FROM sqlite_master LIMIT 1

-- name: has_meta
-- Whether the store was ever set up.
SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :table

-- name: write_first
-- Lock the file without a change, like a transaction that begins with a write: later reads see no
-- change by others. `main` excludes other files that the connection has attached.
UPDATE main.{meta} SET uuid = uuid
