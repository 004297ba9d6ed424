-- GET me, the access tokens of several users in turn.
dofile(os.getenv("BENCHMARK_LUA") .. "/report.lua")

local requests, turn = {}, 0
local value = os.getenv("BENCHMARK_TOKEN_VALUE")

function init()
  for _, token in ipairs(lines(os.getenv("BENCHMARK_TOKENS"))) do
    local headers = { [os.getenv("BENCHMARK_TOKEN_HEADER")] = string.format(value, token) }
    requests[#requests + 1] = wrk.format("GET", nil, headers)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

done = report
