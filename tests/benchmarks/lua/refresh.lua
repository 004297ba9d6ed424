-- POST refresh: one connection per thread, so that each thread walks a token chain of its own.
dofile(os.getenv("BENCHMARK_LUA") .. "/report.lua")

local template, pattern = os.getenv("BENCHMARK_BODY"), os.getenv("BENCHMARK_PATTERN")
local headers = { ["Content-Type"] = os.getenv("BENCHMARK_CONTENT_TYPE") }
local token

setup = numbered

function init()
  token = lines(os.getenv("BENCHMARK_TOKENS"))[number]
end

function request()
  return wrk.format("POST", nil, headers, string.format(template, token))
end

function response(status, _, body)
  token = status == 200 and body:match(pattern) or "lost"
end

done = report
