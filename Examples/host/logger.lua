-- logger.lua - a plug-in in Lua: counts what the other plug-ins' objects do. Returns its object.
local kvo = require "kvo"

local Logger = kvo.class("Logger", { lines = "integer", last = "string" })
local logger = Logger {}
local host = kvo.wrap(host_address)

local function note(change)
  logger.lines = logger.lines + 1
  logger.last = ("%s: %s"):format(change.key_path, change.new)
end

kvo.observe(host, "thermometer.highest", note)
kvo.observe(host, "alarm.count", note)
kvo.observe(host, "alarm", note)

function deliver() return kvo.deliver() end
return kvo.address(logger)
