/* Benchmarks of Lua: one by its name. Only what `measured` does is counted. */
#include <stdio.h>
#include <string.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static const struct {
    const char *name, *text;
} benchmarks[] = {
    {"calls",
     "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end\n"
     "return fib(19)"},
    {"loops",
     "local sum = 0\n"
     "for i = 1, 40000 do sum = sum + (i % 7) * 3 - (i // 5) end\n"
     "local x = 0.5 for i = 1, 20000 do x = x * 1.0001 + i / 3 end\n"
     "return x > sum and 1 or 2"},
    {"tables",
     "local t = {} for i = 1, 6000 do t[i] = i * 2 end\n"
     "local s = 0 for i = 1, #t do s = s + t[i] end\n"
     "for round = 1, 300 do local u = {x = 1, y = 2, round} s = s + u.x + u.y + u[1] end\n"
     "return s"},
    {"strings",
     "local parts = {} for i = 1, 1200 do parts[#parts + 1] = 'word' .. i .. ';' end\n"
     "local text = table.concat(parts) local n = 0\n"
     "for w in text:gmatch('%a+(%d+);') do n = n + #w end\n"
     "return n + #text:gsub('word', 'term') + #text:rep(3):upper()"},
    {"format",
     "local n = 0 for i = 1, 700 do n = n + #string.format('%d %5.2f %s %q', i, i / 3, 'x', 'a\\n') "
     "end return n + tonumber('0x10') + #tostring(1.5)"},
    {"closures",
     "local function counter() local n = 0 return function() n = n + 1 return n end end\n"
     "local s = 0 for i = 1, 800 do local c = counter() c() c() s = s + c() end return s"},
    {"objects",
     "local A = {} A.__index = A function A.new(v) return setmetatable({v = v}, A) end\n"
     "function A:add(o) return A.new(self.v + o.v) end A.__add = A.add\n"
     "A.__lt = function(a, b) return a.v < b.v end\n"
     "local s = A.new(0) for i = 1, 1500 do s = s + A.new(i) if s < A.new(3) then s:add(s) end end\n"
     "return s.v"},
    {"sort",
     "local t, x = {}, 42 for i = 1, 1500 do x = (x * 1103515245 + 12345) % 2147483648 t[i] = x end\n"
     "table.sort(t) table.sort(t, function(a, b) return a > b end) return t[1] > 0 and 1 or 0"},
    {"garbage",
     "local keep = {} for i = 1, 4000 do keep[i % 64 + 1] = {i, {i}} end\n"
     "collectgarbage() return #keep"},
    {"coroutines",
     "local function numbers(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) "
     "end end) end local s = 0 for i in numbers(2500) do s = s + i end return s"},
    {"compile",
     "local text = {} for i = 1, 250 do text[i] = 'local function f' .. i % 100 .. '(a, b) if a > b "
     "then return a * ' .. i .. ' else return {a, b, x = \"y\"} end end do local c = f' .. i % 100 "
     ".. '(1, 2) end' end\n"
     "local f = '' for i = 1, 5 do f = load('do ' .. table.concat(text, ' end do ', 1, 90) .. ' end') "
     "end return f and 1 or 0"},
    {"errors",
     "local n = 0 for i = 1, 700 do local ok = pcall(error, 'x') if not ok then n = n + 1 end\n"
     "n = n + select('#', table.unpack({1, 2, 3, i})) end return n"},
};

__attribute__((noinline)) long measured(lua_State* state) {
    if (lua_pcall(state, 0, 1, 0) != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(state, -1));
        return -1;
    }
    return (long)lua_tonumber(state, -1);
}

int main(int count, char** arguments) {
    for (size_t at = 0; count == 2 && at < sizeof benchmarks / sizeof *benchmarks; at++) {
        if (strcmp(benchmarks[at].name, arguments[1]))
            continue;
        lua_State* state = luaL_newstate();
        luaL_openlibs(state);
        if (luaL_loadstring(state, benchmarks[at].text) != LUA_OK) {
            fprintf(stderr, "%s\n", lua_tostring(state, -1));
            return 3;
        }
        long result = measured(state);
        printf("%ld\n", result);
        return result <= 0;
    }
    return 2;
}
