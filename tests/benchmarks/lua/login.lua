-- POST login as a random one of the seeded users.
dofile(os.getenv("BENCHMARK_LUA") .. "/report.lua")

local template, identity = os.getenv("BENCHMARK_BODY"), os.getenv("BENCHMARK_IDENTITY")
local users = tonumber(os.getenv("BENCHMARK_USERS"))
local headers = { ["Content-Type"] = os.getenv("BENCHMARK_CONTENT_TYPE") }

setup = numbered

function init()
  math.randomseed(os.time() * 100 + number)
end

function request()
  local who = string.format(identity, math.random(0, users - 1))
  return wrk.format("POST", nil, headers, string.format(template, who))
end

done = report
