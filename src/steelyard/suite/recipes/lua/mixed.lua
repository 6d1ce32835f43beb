-- The work of the recipe: what scripts do, a little of each. Prints one checksum a part and round.
-- Usage: lua mixed.lua TEXT ROUNDS

local function checksum(sum, value)
  return (sum * 1000003 + value) % 2147483647
end

-- Words of a text counted in a table, then sorted: hashing, strings, comparison functions.
local function words(text)
  local counts = {}
  for word in text:gmatch("%a+") do
    word = word:lower()
    counts[word] = (counts[word] or 0) + 1
  end
  local list = {}
  for word, count in pairs(counts) do
    list[#list + 1] = { word = word, count = count }
  end
  table.sort(list, function(a, b)
    if a.count ~= b.count then
      return a.count > b.count
    end
    return a.word < b.word
  end)
  local sum = 0
  for rank, item in ipairs(list) do
    sum = checksum(sum, rank * item.count + item.word:byte(1) + #item.word)
  end
  return sum
end

-- Every word reversed and every line built anew: many short strings.
local function rewritten(text)
  local lines = {}
  for line in text:gmatch("[^\n]+") do
    lines[#lines + 1] = line:gsub("%a+", string.reverse):upper()
  end
  local sum = 0
  local whole = table.concat(lines, "\n")
  for position = 1, #whole, 7 do
    sum = checksum(sum, whole:byte(position))
  end
  return sum
end

local function fibonacci(n)
  return n < 2 and n or fibonacci(n - 1) + fibonacci(n - 2)
end

-- All placings of queens that do not attack one another, by a coroutine that yields each.
local function queens(size)
  local columns, rising, falling = {}, {}, {}
  local function place(row)
    if row > size then
      local number = 0
      for i = 1, size do
        number = number * size + columns[i] - 1
      end
      coroutine.yield(number)
      return
    end
    for column = 1, size do
      if not (columns[-column] or rising[row + column] or falling[row - column + size]) then
        columns[row], columns[-column] = column, true
        rising[row + column], falling[row - column + size] = true, true
        place(row + 1)
        columns[-column], rising[row + column], falling[row - column + size] = nil, nil, nil
      end
    end
  end
  local sum = 0
  for number in coroutine.wrap(function() place(1) end) do
    sum = checksum(sum, number % 1000003)
  end
  return sum
end

-- Trees made and walked: allocation and its collection.
local function trees(depth)
  local function make(level)
    return level == 0 and { 1 } or { make(level - 1), make(level - 1) }
  end
  local function count(tree)
    return tree[2] and 1 + count(tree[1]) + count(tree[2]) or tree[1]
  end
  return count(make(depth))
end

-- Sums of a matrix's product with itself: floating point in tables; whole numbers, so exact.
local function matrix(size)
  local rows = {}
  for i = 1, size do
    rows[i] = {}
    for j = 1, size do
      rows[i][j] = ((i * 7 + j * 13) % 10) + 0.0
    end
  end
  local sum = 0.0
  for i = 1, size do
    for j = 1, size do
      local cell = 0.0
      for k = 1, size do
        cell = cell + rows[i][k] * rows[k][j]
      end
      sum = sum + cell * ((i + j) % 3)
    end
  end
  return math.tointeger(sum)
end

-- Objects with inherited methods that are closures over their state.
local Counter = {}
Counter.__index = Counter
local Doubling = setmetatable({}, { __index = Counter })
Doubling.__index = Doubling

function Counter:add(value)
  self.total = (self.total + value) % 65521
  return self
end

function Doubling:add(value)
  return Counter.add(Counter.add(self, value), value)
end

local function objects(count)
  local counters = {}
  for i = 1, 50 do
    counters[i] = setmetatable({ total = i }, i % 2 == 0 and Doubling or Counter)
  end
  for i = 1, count do
    counters[i % 50 + 1]:add(i)
  end
  local sum = 0
  for i = 1, 50 do
    sum = checksum(sum, counters[i].total)
  end
  return sum
end

local file = assert(io.open(arg[1], "rb"))
local text = file:read("a")
file:close()
local total = 0
for round = 1, tonumber(arg[2]) do
  local begin = round * 97 % (#text // 2)
  local part = text:sub(begin, begin + #text // 2)
  local sums = {
    words(part), rewritten(part), fibonacci(20), queens(7), trees(11), matrix(40), objects(20000),
  }
  for _, sum in ipairs(sums) do
    total = checksum(total, sum)
  end
  print(round, table.concat(sums, " "), total)
end
