-- out_of_memory.lua - what out_of_memory.c runs, once for each allocation of Lua that fails.
local kvo=require 'kvo'
kvo.onerror(function() end)
local P=kvo.class("OP",{name="string"})
local D=kvo.class("OD",{x="number",o="object",l=kvo.list "string",y="number",z="number"})
local d=D{x=1}
local t=kvo.observe(d,"x",function(c) return {c.new} end)
kvo.observe(d,"o.name",function(c) return c.old end)
kvo.observe(d,"l",function(c) return #c.new end)
d.x=2; d.o=P{name="a"}; d.o.name="b"; d.l:insert("s"); t:close(); kvo.deliver()
local q=kvo.observe(d,"o",function(c) collectgarbage() return c.old.name end); q:pause(); d.o=nil; collectgarbage(); q:resume()
local f,p=D{},P{}; kvo.bind(f,"x",d,"x"); kvo.bind(f,"o",function() return d.o or p end); kvo.bind(p,"name",function() return f.x.."c" end)
kvo.bind_two_way(f,"y",d,"z")
d.x=7; f.y=8; collectgarbage()
local e=kvo.wrap(kvo.address(d)); d=nil; collectgarbage()
