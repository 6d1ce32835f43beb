"""A C++ program with as much debugging information as large ones have."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Types of its own make each unit instantiate the templates anew.
_UNIT = """
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
namespace unit_{number} {{
template <int N> struct Value {{
    long number; std::string name;
    bool operator<(const Value& other) const {{ return number < other.number; }}
}};
template <int N> long weigh(long seed) {{
    std::map<Value<N>, std::vector<Value<N>>> tree;
    std::unordered_map<std::string, std::shared_ptr<Value<N>>> table;
    std::deque<Value<N>> queue; std::list<Value<N>> list; std::set<Value<N>> set;
    for (long i = 0; i < seed; ++i) {{
        Value<N> value{{i * N, std::to_string(i)}};
        tree[value].push_back(value);
        table[value.name] = std::make_shared<Value<N>>(value);
        queue.push_front(value); list.push_back(value); set.insert(value);
    }}
    list.sort();
    std::sort(queue.begin(), queue.end());
    std::function<long(long)> add = [&](long x) {{ return x + (long)tree.size(); }};
    return add((long)(table.size() + queue.size() + list.size() + set.size()));
}}
long run(const char* text) {{
    std::regex digits("[0-9]+(\\\\.[0-9]*)?");
    return std::regex_match(text, digits) + {calls};
}}
}}
"""
_VALUES_A_UNIT = 12
_OPTIONS = ("-g", "-O2", "-fno-var-tracking")
_MOST_UNITS = 200


def build_large(folder: Path, least_mb: float) -> Path:
    """Compile units with -O2 -g and link them to a program of `least_mb` megabytes; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = [_compiled(folder, 0)]
    program = _linked(folder, objects)
    # Linking shares what units have in common, nearly half of them: how much is seen by linking.
    while (size_mb := program.stat().st_size / 1e6) < least_mb:
        more = math.ceil(len(objects) * (least_mb / size_mb - 1))
        if len(objects) + more > _MOST_UNITS:
            raise ValueError(f"a program of {least_mb:g} MB takes more than {_MOST_UNITS} units")
        objects += [_compiled(folder, len(objects) + number) for number in range(more)]
        program = _linked(folder, objects)
    return program


def _compiled(folder: Path, number: int) -> Path:
    made = folder / f"unit_{number}.o"
    if not made.exists():
        values = range(number * _VALUES_A_UNIT, (number + 1) * _VALUES_A_UNIT)
        calls = " + ".join(f"weigh<{value + 1}>(3)" for value in values)
        source = folder / f"unit_{number}.cpp"
        source.write_text(_UNIT.format(number=number, calls=calls))
        part = made.with_suffix(".part")
        subprocess.run(["g++", *_OPTIONS, "-c", str(source), "-o", str(part)], check=True)
        part.rename(made)
    return made


def _linked(folder: Path, objects: Sequence[Path]) -> Path:
    main, program = folder / "main.cpp", folder / "large"
    declared = "\n".join(
        f"namespace unit_{n} {{ long run(const char*); }}" for n in range(len(objects))
    )
    sums = " + ".join(f"unit_{n}::run(words[0])" for n in range(len(objects)))
    main.write_text(f"{declared}\nint main(int, char** words) {{ return ({sums}) == 0; }}\n")
    command = ["g++", *_OPTIONS, str(main), *map(str, objects), "-o", str(program)]
    subprocess.run(command, check=True)
    return program
