-- One line the harness can read: requests, microseconds, answers over 399, socket errors, and the
-- 50th and 99th percentile of the response times in microseconds.
function report(summary, latency)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("BENCHMARK %d %d %d %d %d %d\n",
    summary.requests, summary.duration, errors.status, broken,
    latency:percentile(50), latency:percentile(99)))
end

function lines(path)
  local found = {}
  for line in io.lines(path) do found[#found + 1] = line end
  return found
end

-- Each wrk thread runs its own Lua state: `number` is what tells them apart.
local threads = 0
function numbered(thread)
  threads = threads + 1
  thread:set("number", threads)
end
