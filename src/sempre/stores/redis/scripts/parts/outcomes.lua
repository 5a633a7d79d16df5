-- Outcomes: executions that succeeded, or failed for good.

local AT_ONCE = 10

-- The ids of a schedule's last outcomes, up to a limit.
local function outcomes(schedule_id, limit)
    local found, last = {}, "+"
    while #found < limit do
        local name = key("finished", schedule_id)
        local page = redis.call("ZREVRANGEBYLEX", name, last, "-", "LIMIT", 0, AT_ONCE)
        for _, member in ipairs(page) do
            local state = look(id_in(member), { "state" }).state
            if #found < limit and (state == "succeeded" or state == "failed") then
                table.insert(found, id_in(member))
            end
        end
        if #page < AT_ONCE then
            break
        end
        last = "(" .. page[#page]
    end
    return found
end
