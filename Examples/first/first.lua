-- first.lua - properties, a key path and a list in Lua.  lua5.4 first.lua
local kvo = require "kvo"

local Author = kvo.class("Author", { name = "string" })
local Document = kvo.class("Document", { zoom = "number", author = "object", marks = kvo.list "integer" })

local ada, report = Author { name = "Ada" }, Document {}
kvo.observe(report, "zoom", function(change) print(("zoom %g -> %g"):format(change.old, change.new)) end)
kvo.observe(report, "author.name", function(change) print("author " .. (change.new or "nobody")) end)
kvo.observe(report, "marks", function(change)
  for position, index in ipairs(change.indexes) do print(("mark %d is %d"):format(index - 1, change.new[position])) end
end)
report.zoom = 2
report.author = ada
ada.name = "Grace"
report.marks:insert(1, 7)
report.author = nil
