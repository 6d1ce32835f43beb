// Parses a program with Esprima, walks over its tree and sums up what it saw; again and again.
//
// Usage: node parse.js ESPRIMA FILE ITERATIONS
"use strict";

const fs = require("fs");
const [place, file, wanted] = process.argv.slice(2);
const esprima = require(place);

// A checksum of the kinds, names and values in a tree, in the order of the source.
function walk(node, sum) {
  if (Array.isArray(node)) return node.reduce((before, child) => walk(child, before), sum);
  if (typeof node === "string") {
    for (let i = 0; i < node.length; i++) sum = (Math.imul(sum, 31) + node.charCodeAt(i)) | 0;
    return sum;
  }
  if (node === null || typeof node !== "object") return walk(String(node), sum);
  for (const name in node) sum = walk(node[name], sum);
  return sum;
}

// One line of JSON an iteration, for whom STEELYARD_ITERATIONS names a file.
function write(seconds) {
  const path = process.env.STEELYARD_ITERATIONS;
  const line = { metric: "iteration_time", unit: "s", value: seconds };
  if (path) fs.appendFileSync(path, JSON.stringify(line) + "\n");
}

const source = fs.readFileSync(file, "utf8");
const count = Number(process.env.STEELYARD_ITERATION_COUNT || wanted);
let first = null;
for (let i = 0; i < count; i++) {
  const start = process.hrtime.bigint();
  const sum = walk(esprima.parseScript(source, { range: true }), 0);
  write(Number(process.hrtime.bigint() - start) / 1e9);
  if (first === null) first = sum;
  if (sum !== first) throw new Error(`iteration ${i} computed ${sum}, the first one ${first}`);
}
console.log(first >>> 0);
