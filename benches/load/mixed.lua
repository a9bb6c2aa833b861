-- Mixed traffic for wrk: reads, writes, scans, journals and bulk writes on a grouping that scripts/load-test has filled.
--
--   of 100 requests   what
--   50                get a unit
--   30                write a version of a unit
--    8                scan by the index, 50 units
--    4                scan by key, at an earlier height
--    5                the newest 10 versions of a unit
--    3                a bulk write of 20 units

local units = tonumber(os.getenv("LOAD_UNITS") or "100000")
local json = { ["Content-Type"] = "application/json" }
local ndjson = { ["Content-Type"] = "application/x-ndjson" }
local padding = string.rep("x", 200)
local threads = {}

function setup(thread)
  thread:set("number", #threads + 1)
  table.insert(threads, thread)
end

function init()
  math.randomseed(number * 7919)
  refused = 0
  first_refusal = ""
end

local function key()
  return string.format("u%07d", math.random(0, units - 1))
end

local function content()
  return string.format('{"town":"town %d","amount":%d,"padding":"%s"}', math.random(0, 999), math.random(0, 1000000), padding)
end

function request()
  local kind = math.random(1, 100)
  if kind <= 50 then
    return wrk.format("GET", "/load/" .. key())
  elseif kind <= 80 then
    return wrk.format("PUT", "/load/" .. key(), json, content())
  elseif kind <= 88 then
    return wrk.format("GET", string.format("/load?index=town&from=town+%d&limit=50", math.random(0, 999)))
  elseif kind <= 92 then
    return wrk.format("GET", string.format("/load?from=%s&limit=50&at=%d", key(), math.random(100, 101)))
  elseif kind <= 97 then
    return wrk.format("GET", "/load/" .. key() .. "/.journal?limit=10")
  end
  local lines = {}
  for line = 1, 20 do
    lines[line] = string.format('{"key":"%s","content":%s}\n', key(), content())
  end
  return wrk.format("POST", "/load/.bulk", ndjson, table.concat(lines))
end

function response(status, headers, body)
  -- A list that breaks off has status 200 all the same.
  local broken = body:find('{"error":', 1, true) ~= nil
  local cut = headers["Content-Type"] == "application/x-ndjson" and body:find('{"end":', 1, true) == nil
  if status < 200 or status > 299 or broken or cut then
    refused = refused + 1
    if first_refusal == "" then
      first_refusal = status .. " " .. body:sub(1, 300)
    end
  end
end

function done(summary, latency)
  local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  for _, thread in ipairs(threads) do
    errors = errors + thread:get("refused")
    local refusal = thread:get("first_refusal")
    if refusal ~= "" then
      io.write("refused: ", refusal, "\n")
    end
  end
  io.write(string.format("median %.2f ms, 99%% %.2f ms, slowest %.2f ms\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
  io.write(string.format("requests: %d\nerrors: %d\n", summary.requests, errors))
end
