-- needs: base known rows switches lanes unique plans
-- Start due one-off work that the caller can read. Rows that the caller cannot read are skipped:
-- the script scans `past` rows more than the limit. Rows that may be unreadable are returned, and
-- no row after them is started, so that the caller can check these rows and continue in this order.
local KINDS = { enqueued = true, derived = true, manual = true, scheduled = true, backfill = true }
local session, wanted = argument(), wanted_work()
local has_ids, ids = argument() == "1", list()
local past, known, foreign, approved, refused = number(), set(), set(), set(), set()
local switches, taken, passed, unknown = switches_off(), {}, {}, {}
local limit = wanted.limit
wanted.limit = limit + past

-- The rules without the trace of the caller, which differs from row to row.
local function shared(rules)
    return (rules:gsub(',"trace":"[%x%-]+"}$', "}"))
end

local function can_be_read(id, row)
    if approved[id] then
        return true
    end
    return known[shared(row.rules)] and (row.args == "{}" or pcall(cjson.decode, row.args))
end

local function start(id, row)
    put(id, {
        state = "running",
        attempt = whole(row.attempt + 1),
        reason = "",
        first_started_at = row.first_started_at ~= "" and row.first_started_at or now,
        started_at = now,
        session = session,
        fence = next_fence(),
    })
    table.insert(taken, answer(id))
end

local READ_BY = { "attempt", "first_started_at", "kind", "rules", "args" }
if is_alive(session) then
    for _, id in ipairs(due_singles(wanted, switches, has_ids and ids)) do
        local row = #taken < limit and look(id, READ_BY)
        if not row then
            break
        elseif foreign[shared(row.rules)] or refused[id] or not KINDS[row.kind] then
            table.insert(passed, answer(id))
        elseif not can_be_read(id, row) then
            table.insert(unknown, answer(id))
        elseif #unknown == 0 then
            start(id, row)
        end
    end
end
return { now, { taken, passed, unknown } }
