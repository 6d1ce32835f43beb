// The work of the recipe: what scripts do, a little of each. Prints one checksum a part and round.
// Usage: duk mixed.js, which reads input.js of the same call: `text` and `rounds`.

function checksum(sum, value) {
  return (sum * 31 + value) % 1000000007;
}

// Words of a text counted in an object, then sorted: hashing, strings, comparison functions.
function words(text) {
  var counts = {};
  text.toLowerCase().split(/[^a-z]+/).forEach(function (word) {
    counts[word] = (counts[word] || 0) + 1;
  });
  var list = Object.keys(counts).sort(function (one, other) {
    return counts[other] - counts[one] || (one < other ? -1 : one > other ? 1 : 0);
  });
  return list.reduce(function (sum, word, rank) {
    return checksum(sum, rank * counts[word] + word.length);
  }, 0);
}

// Regular expressions with groups, and strings built anew.
function rewritten(text) {
  var swapped = text.replace(/(\w+) (\w+)/g, "$2 $1").replace(/[aeiou]+/g, function (vowels) {
    return vowels.toUpperCase().split("").reverse().join("");
  });
  var sum = 0;
  for (var at = 0; at < swapped.length; at += 5) {
    sum = checksum(sum, swapped.charCodeAt(at));
  }
  return sum;
}

function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// All placings of queens that do not attack one another.
function queens(size) {
  var columns = [], rising = [], falling = [], sum = 0;
  function place(row) {
    if (row === size) {
      sum = checksum(sum, columns.join("").length + columns[0]);
      return;
    }
    for (var column = 0; column < size; column++) {
      if (columns.indexOf(column) >= 0 || rising[row + column] || falling[row - column + size]) {
        continue;
      }
      columns.push(column);
      rising[row + column] = falling[row - column + size] = true;
      place(row + 1);
      columns.pop();
      rising[row + column] = falling[row - column + size] = false;
    }
  }
  place(0);
  return sum;
}

// Trees made and walked: allocation and its collection.
function trees(depth) {
  function make(level) {
    return level ? { left: make(level - 1), right: make(level - 1) } : { value: 1 };
  }
  function count(tree) {
    return tree.value || 1 + count(tree.left) + count(tree.right);
  }
  return count(make(depth));
}

// Records written as JSON, read back and summed.
function records(count) {
  var list = [];
  for (var n = 0; n < count; n++) {
    list.push({ id: n, name: "n" + n, tags: [n % 3, n % 5], inner: { half: n / 2 } });
  }
  return JSON.parse(JSON.stringify(list)).reduce(function (sum, item) {
    return checksum(sum, item.inner.half * 2 + item.tags[1] + item.name.length);
  }, 0);
}

// A heat equation on a grid; all numbers are sums of halves, so exact.
function heat(size, steps) {
  var cells = [];
  for (var n = 0; n < size; n++) {
    cells[n] = (n * 37) % 101;
  }
  for (var step = 0; step < steps; step++) {
    var next = cells.slice();
    for (var at = 1; at < size - 1; at++) {
      next[at] = Math.floor((cells[at - 1] + 2 * cells[at] + cells[at + 1]) / 4);
    }
    cells = next;
  }
  return cells.reduce(checksum, 0);
}

var total = 0;
for (var round = 0; round < rounds; round++) {
  var half = Math.floor(text.length / 2);
  var part = text.substr((round * 97) % half, half);
  var sums = [words(part), rewritten(part), fibonacci(16), queens(6), trees(9), records(200), heat(200, 10)];
  total = sums.reduce(checksum, total);
  print(round, sums.join(" "), total);
}
