-- POST signup with an address nobody had before.
dofile(os.getenv("BENCHMARK_LUA") .. "/report.lua")

local template, run = os.getenv("BENCHMARK_BODY"), os.getenv("BENCHMARK_RUN")
local headers = { ["Content-Type"] = os.getenv("BENCHMARK_CONTENT_TYPE") }
local count = 0

setup = numbered

function request()
  count = count + 1
  local email = string.format("new.%s.%d.%d@bench.example.com", run, number, count)
  return wrk.format("POST", nil, headers, string.format(template, email))
end

done = report
