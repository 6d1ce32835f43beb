// Benchmarks of Lua: one is run by its name, and says a number. Scripts are compiled before.
#include <stdio.h>
#include <string.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static const struct {
    const char* name;
    const char* script;
} scripts[] = {
    {"arithmetic", "local s = 0 for i = 1, 20000 do s = (s * 3 + i) % 65521 end return s"},
    {"floats", "local s = 0.5 for i = 1, 15000 do s = s + (i / 3.0) ^ 0.5 end return s // 1 | 0"},
    {"calls",
     "local function f(n) if n < 2 then return 1 end return f(n - 1) + f(n - 2) end "
     "return f(16)"},
    {"closures",
     "local s = 0 for i = 1, 3000 do local function g(x) return x + i end s = s + g(1) "
     "end return s"},
    {"arrays",
     "local t = {} for i = 1, 8000 do t[i] = i * 7 % 101 end local s = 0 "
     "for i, v in ipairs(t) do s = s + v end return s"},
    {"records",
     "local t = {} for i = 1, 1500 do t[i] = {name = i, next = t[i - 1]} end local s = 0 "
     "for _, r in pairs(t) do s = s + r.name end return s"},
    {"strings",
     "local t = {} for i = 1, 1500 do t[#t + 1] = ('key' .. i):upper():sub(2) end "
     "return #table.concat(t, ',')"},
    {"patterns",
     "local n = 0 local text = ('one = 12, two=345; '):rep(80) "
     "for k, v in text:gmatch('(%w+)%s*=%s*(%d+)') do n = n + #k + tonumber(v) end "
     "return n"},
    {"format",
     "local n = 0 for i = 1, 600 do n = n + #string.format('%5d %s %.3f', i, 'x', i / 7) "
     "end return n"},
    {"sort",
     "local t = {} for i = 1, 1200 do t[i] = i * 7919 % 1201 end "
     "table.sort(t, function(a, b) return a < b end) return t[7] + 1"},
    {"methods",
     "local C = {} C.__index = C function C:add(n) self.n = self.n + n end "
     "local o = setmetatable({n = 0}, C) for i = 1, 5000 do o:add(i) end return o.n"},
    {"coroutines",
     "local co = coroutine.wrap(function() for i = 1, 1500 do coroutine.yield(i) end "
     "return 0 end) local s = 0 for i = 1, 1500 do s = s + co() end return s"},
    {"compile",
     "local text = {} for i = 1, 120 do text[i] = 'local a' .. i % 90 .. ' = {' .. i .. "
     "', x = \"y\"} if a' .. i % 90 .. '[1] then f(' .. i .. ') end do end' end "
     "local f = load('do ' .. table.concat(text, ' end do ') .. ' end') "
     "return f and 1 or 0"},
    {"collect",
     "local keep for i = 1, 4000 do keep = {keep and 1, i} end collectgarbage() "
     "return keep[2]"},
};

__attribute__((noinline)) long measured(lua_State* state) {
    if (lua_pcall(state, 0, 1, 0) != LUA_OK)
        return -1;
    return (long)lua_tonumber(state, -1);
}

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    lua_State* state = luaL_newstate();
    if (!state)
        return 1;
    luaL_openlibs(state);
    for (size_t at = 0; at < sizeof scripts / sizeof *scripts; at++) {
        if (strcmp(scripts[at].name, arguments[1]) != 0)
            continue;
        if (luaL_loadstring(state, scripts[at].script) != LUA_OK)
            return 1;
        long result = measured(state);
        printf("%ld\n", result);
        return result <= 0;
    }
    return 2;
}
