// A constraint solver, a ray tracer of spheres, regular expressions over a text, and a dictionary.
"use strict";

function random(seed) {
  var state = seed;
  return function (limit) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % limit;
  };
}

// Queens on a board: sets as bits, deep recursion.
function queens(size, columns, left, right) {
  var all = (1 << size) - 1;
  if (columns === all) return 1;
  var count = 0;
  var free = all & ~(columns | left | right);
  while (free) {
    var bit = free & -free;
    free ^= bit;
    count += queens(size, columns | bit, ((left | bit) << 1) & all, (right | bit) >> 1);
  }
  return count;
}

function Vector(x, y, z) {
  this.x = x;
  this.y = y;
  this.z = z;
}
Vector.prototype.plus = function (o) { return new Vector(this.x + o.x, this.y + o.y, this.z + o.z); };
Vector.prototype.minus = function (o) { return new Vector(this.x - o.x, this.y - o.y, this.z - o.z); };
Vector.prototype.times = function (k) { return new Vector(this.x * k, this.y * k, this.z * k); };
Vector.prototype.dot = function (o) { return this.x * o.x + this.y * o.y + this.z * o.z; };
Vector.prototype.unit = function () { return this.times(1 / Math.sqrt(this.dot(this))); };

function Sphere(centre, radius, shine) {
  this.centre = centre;
  this.radius = radius;
  this.shine = shine;
}
Sphere.prototype.hit = function (from, along) {
  var to = this.centre.minus(from);
  var middle = to.dot(along);
  var rest = this.radius * this.radius - to.dot(to) + middle * middle;
  if (rest < 0) return Infinity;
  var near = middle - Math.sqrt(rest);
  return near > 1e-6 ? near : Infinity;
};

function trace(spheres, from, along, depth) {
  var nearest = null;
  var distance = Infinity;
  spheres.forEach(function (sphere) {
    var d = sphere.hit(from, along);
    if (d < distance) {
      distance = d;
      nearest = sphere;
    }
  });
  if (nearest === null) return 0.5 + 0.5 * along.y;
  var point = from.plus(along.times(distance));
  var normal = point.minus(nearest.centre).unit();
  var light = Math.max(0, normal.dot(new Vector(0.6, 0.64, -0.48)));
  if (depth === 0) return light;
  var mirrored = along.minus(normal.times(2 * normal.dot(along)));
  return light * (1 - nearest.shine) + nearest.shine * trace(spheres, point, mirrored, depth - 1);
}

function picture(next, size) {
  var spheres = [];
  for (var i = 0; i < 12; i++) {
    var centre = new Vector(next(200) / 20 - 5, next(200) / 20 - 5, 8 + next(100) / 10);
    spheres.push(new Sphere(centre, 1 + next(10) / 10, next(10) / 20));
  }
  var sum = 0;
  for (var y = 0; y < size; y++) {
    for (var x = 0; x < size; x++) {
      var along = new Vector((x - size / 2) / size, (y - size / 2) / size, 1).unit();
      sum += Math.round(trace(spheres, new Vector(0, 0, 0), along, 3) * 255);
    }
  }
  return sum;
}

function text(next, words) {
  var made = [];
  for (var i = 0; i < words; i++) {
    made.push(String.fromCharCode(97 + next(26), 97 + next(5), 97 + next(26)) + next(100));
  }
  return made.join(" ");
}

function count(words) {
  var seen = {};
  words.replace(/([a-z])([a-e])[a-z](\d+)/g, function (all, first, second, number) {
    var key = first + second;
    seen[key] = (seen[key] || 0) + parseInt(number, 10);
    return all;
  });
  return Object.keys(seen).sort().map(function (key) { return key + seen[key]; }).join("");
}

function run(scale) {
  var next = random(19950523);
  var found = [];
  for (var i = 0; i < scale; i++) {
    found.push(queens(8, 0, 0, 0), picture(next, 24), count(text(next, 400)));
  }
  return found.join(" ");
}
