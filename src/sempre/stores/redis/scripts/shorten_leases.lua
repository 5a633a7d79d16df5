-- needs: base known
-- Cut leases that last longer than some microseconds from now; return how many did.
local until_, count = later(number()), 0
local leases = redis.call("HGETALL", key("leases"))
for place = 1, #leases, 2 do
    if leases[place + 1] > until_ then
        redis.call("HSET", key("leases"), leases[place], until_)
        count = count + 1
    end
end
return count
