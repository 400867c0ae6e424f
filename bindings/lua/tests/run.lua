-- run.lua - the tests of the Lua module, with those of bind.lua. Prints "N passed, N failed".
local kvo = require "kvo"

local passed, failed = 0, 0
local function test(name, body)
  local ok, message = xpcall(body, debug.traceback)
  if ok then passed = passed + 1 else failed = failed + 1; print("FAILED", name, message) end
end
local function equal(a, b) if a ~= b then error(("%s is not %s"):format(tostring(a), tostring(b)), 2) end end
local function fails(pattern, body, ...)
  local ok, message = pcall(body, ...)
  if ok then error("no error: " .. pattern, 2) end
  if not tostring(message):find(pattern) then error(("'%s' is not in '%s'"):format(pattern, message), 2) end
end

local Person = kvo.class("Person", { name = "string" })
local Document = kvo.class("Document", {
  title = "string", zoom = "number", pages = "integer", open = "boolean", author = "object",
  prices = kvo.list "number", people = kvo.list "object", tags = kvo.list "string", flags = kvo.list "boolean" })

test("properties have values of their types, and refuse others", function()
  local d = Document { title = "Report", zoom = 2 }
  equal(d.title, "Report"); equal(d.zoom, 2.0); equal(math.type(d.zoom), "float")
  equal(d.pages, 0); equal(d.open, false); equal(d.author, nil)
  d.pages = 3; d.open = true; d.pages = 4.0
  equal(d.pages, 4); equal(d.open, true)
  local told = 0
  local token <close> = kvo.observe(d, "pages", function() told = told + 1 end)
  fails("pages", function() d.pages = 1.5 end)
  fails("pages", function() d.pages = "x" end)
  fails("pages", function() d.pages = nil end)
  fails("title", function() d.title = {} end)
  fails("NUL", function() d.title = "a\0b" end)
  fails("no property 'titel'", function() d.titel = "x" end)
  fails("no property 'titel'", function() return d.titel end)
  fails("no property", function() Document { nothing = 1 } end)
  equal(told, 0); equal(d.pages, 4)
  d.title = nil
  equal(d.title, nil)
end)

test("a handler gets the old and the new value", function()
  local d, told = Document { title = "a" }, nil
  local token = kvo.observe(d, "title", function(change) told = change end)
  d.title = "b"
  equal(told.old, "a"); equal(told.new, "b"); equal(told.kind, "setting"); equal(told.key_path, "title")
  equal(told.object, d); equal(told.is_prior, false); equal(told.indexes, nil)
  assert(token:is_active())
  token:close(); token:close()
  assert(not token:is_active())
  d.title = "c"
  equal(told.new, "b")
end)

test("the first value and the time before the change are told on request", function()
  local d, told = Document { zoom = 1 }, {}
  local token <close> = kvo.observe(d, "zoom", function(c) told[#told + 1] = { c.old, c.new, c.is_prior, d.zoom } end, "initial", "prior")
  d.zoom = 2
  equal(#told, 3); equal(told[1][2], 1.0); equal(told[2][3], true); equal(told[2][4], 1.0); equal(told[3][2], 2.0)
  fails("invalid option", kvo.observe, d, "zoom", print, "sometimes")
end)

test("a key path follows the objects on it", function()
  local d, told = Document {}, {}
  local token <close> = kvo.observe(d, "author.name", function(c) told[#told + 1] = tostring(c.old) .. ">" .. tostring(c.new) end)
  local ann = Person { name = "Ann" }
  d.author = ann
  ann.name = "Anna"
  d.author = Person { name = "Bob" }
  ann.name = "unrelated"
  collectgarbage(); collectgarbage()
  equal(d.author.name, "Bob")
  kvo.set(d, "author.name", "Rob")
  equal(kvo.get(d, "author.name"), "Rob")
  d.author = nil
  equal(table.concat(told, " "), "nil>Ann Ann>Anna Anna>Bob Bob>Rob Rob>nil")
end)

test("lists tell kinds, indexes and elements", function()
  local d, told = Document {}, {}
  local token <close> = kvo.observe(d, "prices", function(c)
    told[#told + 1] = ("%s %s %s>%s"):format(c.kind, table.concat(c.indexes or {}, ","), table.concat(c.old or {}, ","), table.concat(c.new or {}, ","))
  end)
  local prices = d.prices
  prices:insert(1.5); prices:insert(1, 2); prices[2] = 3; prices[3] = 4
  equal(prices:remove(1), 2.0)
  equal(#prices, 2); equal(prices[1], 3.0); equal(prices[9], nil)
  equal(table.concat(told, " "), "insertion 1 >1.5 insertion 1 >2.0 replacement 2 1.5>3.0 insertion 3 >4.0 removal 1 2.0>")
  equal(table.concat(prices:elements(), ","), "3.0,4.0")
  fails("no such index", function() prices:remove(9) end)
  fails("no such index", function() prices[9] = 1 end)
  fails("prices", function() prices:insert("x") end)
  fails("", function() prices:insert(9, 1) end)
  fails("", function() prices:add(9) end)
  d.tags:insert("a"); d.tags:insert(1, "b"); d.tags:remove(2)
  d.flags:insert(true); d.flags:insert(1, false)
  equal(d.tags[1], "b"); equal(d.flags[1], false); equal(d.flags[2], true)
end)

test("objects are kept by the properties and lists that refer to them, and die otherwise", function()
  local d, gone = Document {}, setmetatable({}, { __mode = "k" })
  local function fill()
    local one, other = Person { name = "one" }, Person { name = "other" }
    gone[one], gone[other] = true, true
    d.author = one; d.people:insert(other); d.people:insert(other)
  end
  fill()
  collectgarbage(); collectgarbage()
  equal(d.author.name, "one"); equal(d.people[1].name, "other")
  d.people:remove(); collectgarbage(); collectgarbage()
  equal(d.people[1].name, "other")
  d.people:remove(); d.author = nil
  collectgarbage(); collectgarbage()
  equal(next(gone), nil)
end)

test("a cycle of objects and handlers is collected", function()
  local gone = setmetatable({}, { __mode = "k" })
  do
    local d = Document {}
    local e = Document { author = d }
    d.author = e
    gone[d], gone[e] = true, true
    kvo.observe(d, "author.author.zoom", function() return d, e end)
  end
  collectgarbage(); collectgarbage()
  equal(next(gone), nil)
end)

test("the token may be collected; the observation goes on until the object dies", function()
  local d, told = Document {}, 0
  kvo.observe(d, "zoom", function() told = told + 1 end)
  collectgarbage(); collectgarbage()
  d.zoom = 2
  equal(told, 1)
  local token = kvo.observe(d, "zoom", print)
  d = nil
  collectgarbage(); collectgarbage()
  assert(not token:is_active())
  fails("pause", token.pause, token)
end)

test("an error in a handler is told, and the others are called", function()
  local d, told, errors = Document {}, 0, {}
  kvo.onerror(function(message) errors[#errors + 1] = message end)
  local a <close> = kvo.observe(d, "zoom", function() told = told + 1 end)
  local b <close> = kvo.observe(d, "zoom", function() error("wrong") end)
  local c <close> = kvo.observe(d, "zoom", function() error({ code = 1 }) end)
  d.zoom = 2
  equal(told, 1); equal(#errors, 2); assert(errors[2]:find("wrong") and errors[2]:find("traceback"))
  local e <close> = kvo.observe(d, "zoom", function() coroutine.yield() end)
  d.zoom = 3
  assert(errors[3]:find("yield"))
  local recursive <close> = kvo.observe(d, "pages", function() d.pages = d.pages + 1 end)
  d.pages = 1
  assert(errors[#errors]:find("overflow"))
  kvo.onerror(nil)
  fails("function expected", kvo.onerror, 5)
end)

test("handlers may end observations, observe, and run in coroutines", function()
  local d, told = Document {}, {}
  local token
  token = kvo.observe(d, "zoom", function(c)
    token:close()
    kvo.observe(d, "zoom", function(c) told[#told + 1] = c.new end)
  end)
  coroutine.wrap(function() d.zoom = 1; d.zoom = 2 end)()
  collectgarbage()
  equal(table.concat(told, ","), "2.0")
end)

test("pause and resume", function()
  local d, told = Document { zoom = 1 }, {}
  local token <close> = kvo.observe(d, "zoom", function(c) told[#told + 1] = c.old .. ">" .. c.new end)
  token:pause(); d.zoom = 2; d.zoom = 3; token:resume()
  equal(table.concat(told), "1.0>3.0")
end)

test("classes: inheritance, the same definition again, another one of the same name, wrong ones", function()
  local Book = kvo.class("Book", { isbn = "string" }, Document)
  local b, told = Book { isbn = "1", zoom = 3, title = "T" }, 0
  local token <close> = kvo.observe(b, "title", function() told = told + 1 end)
  b.title = "U"
  equal(told, 1); equal(b.isbn, "1"); equal(b.zoom, 3.0)
  equal(kvo.class("Person", { name = "string" }).name, "Person")
  equal(kvo.class("Person", { name = "number" }).name, "Person_2")
  local named, numbered = kvo.class("Named", { name = "string" }), kvo.class("Numbered", { number = "number" })
  equal(kvo.class("Sub", {}, named).name .. kvo.class("Sub", {}, numbered).name, "SubSub_2")
  equal(Document.properties.prices, "[d]")
  equal(kvo.find("Nothing"), nil)
  fails("a type was expected", kvo.class, "Wrong", { x = "float" })
  fails("a type was expected", kvo.class, "Wrong", { x = 5 })
  fails("names", kvo.class, "Wrong", { 5 })
  fails("", kvo.class, "", {})
  fails("a%.b", kvo.class, "Wrong", { ["a.b"] = "number" })
  equal(kvo.find("Wrong"), nil)
end)

test("misuse of observe is an error, and nothing stays", function()
  local d = Document { author = Person {} }
  for _, path in ipairs { "nothing", "author.nothing", "", ".", "zoom.x", "author.", "a\0b" } do fails("", kvo.observe, d, path, print) end
  fails("function", kvo.observe, d, "zoom", 5)
  fails("kvo.object", kvo.observe, {}, "zoom", print)
  fails("kvo.object", kvo.observe, kvo.class, "zoom", print)
  fails("address", kvo.wrap, 5)
  equal(kvo.wrap(nil), nil)
  equal(kvo.wrap(kvo.address(d)), d)
  equal(getmetatable(d), "kvo")
end)

test("a value that an observed path cannot be read from is an error of the assignment, which has been made", function()
  local d, told = Document {}, 0
  local token = kvo.observe(d, "author.nope", function(change) told = told + (change.new == nil and 1 or 1000) end)
  local other <close> = kvo.observe(d, "author", function() told = told + 100 end)
  local p = Person {}
  fails("author: KVO0009.*nope", function() d.author = p end)
  equal(d.author, p); equal(told, 101)
  d.author = nil   -- that the old value cannot be read has been said
  equal(d.author, nil)
  local holder = Document { author = d }
  kvo.observe(holder, "author.author.nope", function() end)
  fails("KVO0009", function() d.author = p end)
  token:close(); holder = nil; collectgarbage(); collectgarbage()
  d.author = nil
  d.author = p
end)

test("the same for lists, key paths, the resumption, and a change that an observer makes", function()
  local d = Document {}
  kvo.observe(d, "people.@sum.nope", function() end)
  fails("people: KVO%d+", function() d.people:insert(Person {}) end)
  equal(#d.people, 1)
  local inner = Document {}
  kvo.observe(inner, "author.nope", function() end)
  local seen
  kvo.observe(d, "title", function() seen = { pcall(function() inner.author = Person {} end) } end)
  d.title = "x"
  equal(seen[1], false); assert(seen[2]:find "KVO0009", seen[2])
  local later = Document {}
  local token = kvo.observe(later, "author.nope", function() end)
  token:pause()
  pcall(function() later.author = Person {} end)
  pcall(token.resume, token)
  equal(later.title, nil)
end)

test("metatables are hidden", function()
  local d = Document {}
  for _, one in ipairs { d, d.prices, Document, kvo.list "number", kvo.observe(d, "zoom", function() end) } do
    equal(getmetatable(one), "kvo")
    equal(pcall(setmetatable, one, {}), false)
  end
end)

test("finalisers check what they get", function()
  local token = debug.getmetatable(kvo.observe(Document {}, "zoom", function() end))
  fails("kvo.observation", token.__gc, io.stdout)
  fails("kvo.object", debug.getmetatable(Document {}).__gc, io.stdout)
  fails("kvo.list", debug.getmetatable(Document {}.prices).__len, Document {})
end)

test("a dead object is an error, also in a finaliser", function()
  local seen
  do
    local d = Document {}
    local holder = setmetatable({ d = d }, { __gc = function(self) seen = { pcall(function() return self.d.zoom end) } end })
  end
  collectgarbage(); collectgarbage()
  assert(seen ~= nil)
end)

test("the module can be loaded again", function()
  local d, told = Document {}, 0
  kvo.observe(d, "zoom", function() told = told + 1 end)
  package.loaded.kvo = nil
  local again = require "kvo"
  assert(again ~= kvo)
  d.zoom = 5
  local token <close> = again.observe(d, "zoom", function() told = told + 1 end)
  d.zoom = 6
  equal(told, 3)
  equal(again.deliver(), 0)
end)

test("many objects and observations", function()
  local all, told = {}, 0
  for i = 1, 5000 do
    all[i] = Document { title = "t" .. i }
    kvo.observe(all[i], "title", function() told = told + 1 end)
    kvo.observe(all[i], "author.name", function() end)
    if i > 1 then all[i].author = all[i - 1].author or Person {} end
  end
  for i = 1, 5000 do all[i].title = "x" end
  equal(told, 5000)
  all = nil
  collectgarbage(); collectgarbage()
end)

-- Objects that are collected together.
local Node = kvo.class("Node", { age = "integer", other = "object", all = kvo.list "object" })

test("the elements of an observed list may be collected before and after the object that has them", function()
  for _, path in ipairs { "all.@sum.age", "all.@max.age", "all.@unionOfObjects.other", "other.all.@sum.age", "other.other.age", "all", "other" } do
    for round = 1, 20 do
      local nodes = {}
      for i = 1, 4 do nodes[i] = Node { age = i } end
      local owner = round % 2 == 0 and Node {} or nodes[1]      -- made after its elements, and before them
      kvo.observe(owner, path, function(c) tostring(c.old) end, "prior")
      for i = 1, 4 do owner.all:insert(nodes[i]); nodes[i].other = nodes[i % 4 + 1]; nodes[i].all:insert(owner) end
      owner.other = nodes[3]
      owner, nodes = nil, nil
      collectgarbage(round % 3 == 0 and "step" or "collect")
      for i = 1, 5 do Node { age = i } end                       -- which would get the memory
    end
  end
  collectgarbage(); collectgarbage()
end)

test("the old value that a paused observation tells lives until then", function()
  local o, told = Node { other = Node { age = 7 } }, nil
  local token = kvo.observe(o, "other", function(c) told = c.old end)
  token:pause()
  o.other = nil
  collectgarbage(); collectgarbage()
  for i = 1, 20 do Node { age = 0 } end
  token:resume()
  equal(told.age, 7)
  o.all:insert(Node { age = 8 }); o.all:insert(Node { age = 9 })
  local list = kvo.observe(o, "all", function(c) told = c.old end)
  list:pause()
  o.all:remove(); o.all:remove()
  collectgarbage(); collectgarbage()
  list:resume()
  equal(told[1].age, 8); equal(told[2].age, 9)
  o.all:insert(Node { other = Node { age = 10 } })
  local path = kvo.observe(o, "all.@unionOfObjects.other", function(c) told = c.old end)
  path:pause()
  o.all:remove()
  collectgarbage(); collectgarbage()
  path:resume()
  equal(told[1].age, 10)
  told = setmetatable({ told[1] }, { __mode = "v" })
  collectgarbage(); collectgarbage()
  equal(told[1], nil)
end)

test("a handler may pause its observation again while resume tells what was missed", function()
  local o, told, token = Node { other = Node { age = 1 } }, {}, nil
  token = kvo.observe(o, "other", function(c)
    told[#told + 1] = c.old and c.old.age
    if #told == 1 then token:pause() end
    if #told == 2 then token:pause(); o.other = nil; collectgarbage(); token:resume() end
  end)
  token:pause()
  o.other = Node { age = 2 }
  collectgarbage(); collectgarbage()
  token:resume()                                               -- the handler pauses again: Node 2 is told later
  o.other = Node { age = 3 }
  collectgarbage(); collectgarbage()
  for _ = 1, 20 do Node { age = 0 } end
  token:resume()                                               -- and resumes within the handler
  equal(table.concat(told, " "), "1 2 3")
  local seen = setmetatable({ o.other }, { __mode = "v" })
  o.other = nil
  collectgarbage(); collectgarbage()
  equal(seen[1], nil)
end)

test("what a handler has dropped and collected is nil for the next one", function()
  local root, told = Node {}, {}
  local function fill() root.other = Node { other = Node { age = 5 } } end
  fill()
  kvo.observe(root, "other.other", function(c) told[#told + 1] = c.old == nil or c.old.age == 5 end)
  kvo.observe(root, "other.other", function() told[#told + 1] = "first" end)
  kvo.observe(root, "other", function(c)
    if c.old then c.old.other = nil end
    c.old = nil
    collectgarbage(); collectgarbage()
    for i = 1, 20 do Node { age = 0 } end
  end)
  root.other = nil
  fill()
  root.other = Node {}
  assert(#told > 0)
  for _, one in ipairs(told) do assert(one) end
end)

test("what handlers set, insert and remove within a change is kept, too", function()
  local o, inner = Node {}, false
  kvo.observe(o, "other", function(c)
    if inner or not c.is_prior then return end
    inner = true; o.other = Node { age = 1 }; inner = false
  end, "prior")
  local before = Node { age = 2 }
  o.other = before                                               -- stored after what the handler has set
  before = nil
  collectgarbage(); collectgarbage()
  equal(o.other.age, 2)
  local p = Node { other = Node {} }
  kvo.observe(p, "other", function(c) if not c.new then p.other = Node { age = 3 } end end)
  p.other = nil                                                  -- stored before what the handler sets
  collectgarbage(); collectgarbage()
  equal(p.other.age, 3)
  local list = Node {}
  for i = 1, 3 do list.all:insert(Node { age = i }) end
  kvo.observe(list, "all", function(c)
    if c.is_prior and c.kind == "replacement" then list.all:insert(1, Node { age = 9 }) end
  end, "prior")
  list.all[2] = Node { age = 7 }                                 -- replaces what the handler has moved to there
  collectgarbage(); collectgarbage()
  local ages = {}
  for i = 1, #list.all do ages[i] = list.all[i].age end
  equal(table.concat(ages, ","), "9,7,2,3")
end)

test("objects made by a class that was found by its name are collected together, too", function()
  local Same = kvo.find "Node"
  for _ = 1, 20 do
    local owner = Same { age = 1 }
    kvo.observe(owner, "all.@sum.age", function() end)
    for i = 1, 5 do owner.all:insert(Same { age = i }) end
    owner = nil
    collectgarbage()
  end
end)

test("objects that refer to each other may be left when the state is closed", function()
  local script = [[
    local kvo = require "kvo"
    local Node = kvo.class("Node", { age = "integer", other = "object", all = kvo.list "object" })
    local told = 0
    owner = Node {}
    for _, path in ipairs { "all.@sum.age", "all.@unionOfObjects.other", "other.other.age", "other", "other.other" } do
      kvo.observe(owner, path, function(c)
        told = told + 1
        if type(c.old) == "table" then for _, one in pairs(c.old) do tostring(one) end end
      end)
    end
    for i = 1, 5 do local n = Node { age = i, other = owner.all[i - 1] }; owner.all:insert(n); n.all:insert(owner); owner.other = n end
    kvo.onerror(function(message) print("ERROR " .. message) end)
    last = setmetatable({}, { __gc = function() print("closed") end })
  ]]
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(script); file:close()
  local run = assert(io.popen((arg[-1] or "lua5.4") .. " " .. name .. " 2>&1"))
  local text = run:read "a"
  local ok, how, code = run:close()
  os.remove(name)
  equal(text, "closed\n"); equal(how .. code, "exit0")
end)

test("the code of README.md prints what its comments say", function()
  local file = assert(io.open((arg[0]:gsub("tests/run.lua$", "README.md"))))
  local text, code, printed, expected = file:read "a", {}, {}, {}
  file:close()
  for block in text:gmatch "```lua\n(.-)```" do code[#code + 1] = block end
  for line in table.concat(code):gmatch "%-%->%s*([^\n]*)" do expected[#expected + 1] = line:gsub("%s+", " ") end
  local env = setmetatable({ print = function(...)
    printed[#printed + 1] = table.concat({ tostring((select(1, ...))), tostring((select(2, ...))) }, " ")
  end }, { __index = _G })
  assert(load(table.concat(code), "README.md", "t", env))()
  equal(table.concat(printed, "\n"), table.concat(expected, "\n"))
  assert(#printed == 3)
end)

dofile((arg[0]:gsub("run.lua$", "bind.lua")))(test, equal, fails)

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0, true)
