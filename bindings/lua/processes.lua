-- A demo: the memory of this machine's processes as an observed model. lua5.4 processes.lua [samples]
-- Processes and their machine are objects; all that is printed is printed by observers.
local kvo = require "kvo"

local Process = kvo.class("Process", { pid = "integer", name = "string", resident = "integer" })
local Machine = kvo.class("Machine", { processes = kvo.list "object", resident = "integer", largest = "object" })

local function read(path)
  local file = io.open(path)
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

local machine, known = Machine {}, {}

local function sample()
  local present, sum = {}, 0
  for pid in io.popen("ls /proc"):lines() do
    pid = math.tointeger(tonumber(pid))
    local name = pid and read("/proc/" .. pid .. "/comm")
    local pages = name and read("/proc/" .. pid .. "/statm")
    if pages and pages ~= "" then
      local resident = math.tointeger(tonumber(pages:match "^%d+ (%d+)")) * 4
      present[pid], sum = true, sum + resident
      if not known[pid] then
        known[pid] = Process { pid = pid, name = name:gsub("\n", ""), resident = resident }
        machine.processes:insert(known[pid])
      elseif known[pid].resident ~= resident then
        known[pid].resident = resident
      end
    end
  end
  local largest
  for index = #machine.processes, 1, -1 do
    local process = machine.processes[index]
    if not present[process.pid] then
      known[process.pid] = nil
      machine.processes:remove(index)
    elseif not largest or process.resident > largest.resident then
      largest = process
    end
  end
  machine.largest, machine.resident = largest, sum
end

kvo.observe(machine, "processes", function(change)
  for _, process in ipairs(change.new or {}) do print(("+ %7d %s, %d KiB"):format(process.pid, process.name, process.resident)) end
  for _, process in ipairs(change.old or {}) do print(("- %7d %s"):format(process.pid, process.name)) end
end)
kvo.observe(machine, "resident", function(change)
  if change.old ~= change.new then print(("  all     %d KiB, %+d"):format(change.new, change.new - change.old)) end
end)
local token <close> = kvo.observe(machine, "largest.name", function(change)
  if change.old ~= change.new then print("  largest " .. tostring(change.new)) end
end)

for i = 1, tonumber(arg[1]) or 10 do
  sample()
  os.execute "sleep 0.2"
end
print(#machine.processes .. " processes")
