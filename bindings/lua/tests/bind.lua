-- bind.lua - the tests of kvo.bind and kvo.bind_two_way. run.lua calls what this file returns.
local kvo = require "kvo"

local Cell = kvo.class("Cell", {
  value = "number", count = "integer", name = "string", next = "object", list = kvo.list "number" })

local function collect() collectgarbage(); collectgarbage() end

return function(test, equal, fails)
  test("a bound property takes the value of a key path at once and after each change, until its token is closed", function()
    local source, target, told = Cell { value = 3 }, Cell {}, {}
    local token <close> = kvo.bind(target, "count", source, "value")
    equal(target.count, 3)
    kvo.observe(target, "count", function(c) told[#told + 1] = c.old .. ">" .. c.new end)
    source.value = 4; source.value = 4
    equal(target.count, 4); equal(table.concat(told, " "), "3>4")
    assert(token:is_active())
    token:close()
    source.value = 5
    equal(target.count, 4)
    local name <close> = kvo.bind(target, "name", source, "next.name")
    source.next = Cell { name = "Ann" }
    equal(target.name, "Ann")
    source.next.name = "Anna"
    equal(target.name, "Anna")
    source.next = nil
    equal(target.name, nil)
  end)

  test("the end of a diamond of bindings is computed once for a change, and its observer is told once, of no mixture", function()
    local source, left, right, sum, told, computed = Cell {}, Cell {}, Cell {}, Cell {}, {}, 0
    kvo.bind(left, "value", function() return source.value + 1 end)
    kvo.bind(right, "value", function() return source.value * 10 end)
    kvo.bind(sum, "value", function() computed = computed + 1; return left.value + right.value end)
    kvo.observe(sum, "value", function(c) told[#told + 1] = ("%g>%g"):format(c.old, c.new) end)
    computed = 0
    source.value = 1
    source.value = 2
    equal(table.concat(told, " "), "1>12 12>23"); equal(computed, 2)
  end)

  test("two properties bound in two ways follow each other, and the token ends and pauses both directions", function()
    local one, other, told = Cell {}, Cell { value = 3 }, {}
    local token = kvo.bind_two_way(one, "value", other, "value")
    equal(one.value, 3.0)
    kvo.observe(one, "value", function(c) told[#told + 1] = ("one %g>%g"):format(c.old, c.new) end)
    kvo.observe(other, "value", function(c) told[#told + 1] = ("other %g>%g"):format(c.old, c.new) end)
    one.value = 4
    equal(table.concat(told, " "), "one 3>4 other 3>4")
    other.value = 5
    equal(one.value, 5.0)
    token:pause(); token:pause()
    one.value = 6
    equal(other.value, 5.0)
    token:resume()
    equal(other.value, 6.0)
    token:close()
    one.value = 7
    equal(other.value, 6.0)
    other.value = 8
    equal(one.value, 7.0)
    fails("pause", token.pause, token)
  end)

  test("a binding ends with its target and with its source, and keeps neither", function()
    for first = 1, 2 do
      local pair = { Cell {}, Cell {} }
      local tokens = { kvo.bind(pair[1], "value", pair[2], "value"), kvo.bind_two_way(pair[1], "name", pair[2], "name") }
      local gone = setmetatable({ pair[first] }, { __mode = "v" })
      pair[first] = nil
      collect()
      equal(gone[1], nil)
      for _, token in ipairs(tokens) do assert(not token:is_active()) end
      pair[3 - first].value = 2
    end
    local target = Cell {}
    local token = kvo.bind(target, "value", function() return target.count + 1 end)
    target = nil
    collect()
    assert(not token:is_active())
  end)

  test("the target keeps an object that a binding has set", function()
    local source, target = Cell {}, Cell {}
    local token <close> = kvo.bind(target, "next", source, "next")
    local computed <close> = kvo.bind(source, "next", function() return Cell { name = "made " .. (source.name or "") } end)
    source.name = "x"
    collect()
    equal(target.next.name, "made x"); equal(target.next, source.next)
    computed:close()
    token:close()
    source.next = nil
    collect()
    equal(target.next.name, "made x")
  end)

  test("a function that raises leaves the target as it is, and is called at the next change", function()
    local source, target, errors = Cell { value = 1 }, Cell {}, {}
    kvo.onerror(function(message) errors[#errors + 1] = message end)
    local token <close> = kvo.bind(target, "value", function()
      if source.value < 0 then error("negative") end
      return source.value * 2
    end)
    source.value = -1
    equal(target.value, 2.0); equal(#errors, 1); assert(errors[1]:find "negative" and errors[1]:find "traceback")
    source.value = 3
    equal(target.value, 6.0)
    local yields <close> = kvo.bind(target, "count", function() local v = source.value; coroutine.yield(); return v end)
    assert(errors[2]:find "yield")
    kvo.onerror(nil)
  end)

  test("a value that the target cannot have, or a path that cannot be read, is an error of the assignment, which has been made", function()
    local source, target = Cell {}, Cell {}
    local token <close> = kvo.bind(target, "count", source, "value")
    fails("value: .*count", function() source.value = 1.5 end)
    equal(source.value, 1.5); equal(target.count, 0)
    source.value = 2
    equal(target.count, 2)
    fails("count", kvo.bind, target, "count", source, "name")
    local path <close> = kvo.bind(target, "name", source, "next.nope")
    fails("next: .*nope", function() source.next = Cell {} end)
    assert(source.next)
  end)

  test("misuse of bind is an error, and nothing stays", function()
    local a, b = Cell {}, Cell {}
    fails("no property 'nope'", kvo.bind, a, "nope", b, "value")
    fails("no property 'nope'", kvo.bind, a, "value", b, "nope")
    fails("a list", kvo.bind, a, "list", b, "list")
    fails("kvo.object", kvo.bind, a, "value", 5, "value")
    fails("kvo.object", kvo.bind, {}, "value", b, "value")
    fails("no property 'nope'", kvo.bind_two_way, a, "value", b, "nope")
    fails("NUL", kvo.bind, a, "value", b, "value\0")
    b.name = "text"
    fails("value", kvo.bind_two_way, a, "value", b, "name")
    b.name = "other"
    equal(a.value, 0.0)
    a.value = 2
    equal(b.name, "other")
  end)
end
