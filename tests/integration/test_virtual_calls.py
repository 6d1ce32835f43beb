"""Paths by the code of C++ programs: virtual functions are called at their own offsets."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.analysis.paths.path_map import functions_of
from steelyard.app.profile.static_paths import ProgramCode
from steelyard.profile.paths.code_graph import read_call_graph
from steelyard.profile.paths.learning_run import learning_run
from tests.needs import need, needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("g++"),
]
# Several and virtual bases, pointers to members, calls that are jumps, destructors.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long k = 0; k < n; ++k) sink += k; }
struct Shape { virtual ~Shape() { sink++; } virtual void draw(long n) = 0; virtual void move(long n) { leaf(n); sink++; } virtual void name(long n) { leaf(n); sink += 2; } };
struct Other { virtual void save(long n) { leaf(n); sink += 3; } virtual void load(long n) { leaf(n + 1); sink += 4; } long kept = 0; };
struct Round : Shape { void draw(long n) override { leaf(n); sink += 5; } void name(long n) override { leaf(n); sink += 6; } };
struct Both : Shape, Other { void draw(long n) override { leaf(n); sink += 7; } void save(long n) override { leaf(n); sink += 8; } void load(long n) override { leaf(n); sink += 9; } };
struct Deep : virtual Shape, virtual Other { void draw(long n) override { save(n); sink++; } void load(long n) override { leaf(n); sink += 2; } };
FUNCTION void drawn(Shape* one, long n) { one->draw(n); sink++; }
FUNCTION void moved(Shape* one, long n) { one->move(n); sink++; }
FUNCTION void named(Shape* one, long n) { one->name(n); sink++; }
FUNCTION void saved(Other* one, long n) { one->save(n); sink++; }
FUNCTION void loaded(Other* one, long n) { one->load(n); sink++; }
FUNCTION void member(Shape* one, void (Shape::*which)(long), long n) { (one->*which)(n); sink++; }
FUNCTION void jumped(Shape* one, long n) { return one->draw(n); }
int main(int count, char** words) {
    const long n = count > 1 ? std::atol(words[1]) : 10;
    Shape* shapes[] = {new Round, new Both, new Deep};
    Other* others[] = {new Other, new Both, new Deep};
    void (Shape::*which[])(long) = {&Shape::draw, &Shape::move, &Shape::name};
    for (int k = 0; k < 3; ++k) { drawn(shapes[k], n); moved(shapes[k], n); named(shapes[k], n); saved(others[k], n); loaded(others[k], n); jumped(shapes[k], n); for (auto one : which) member(shapes[k], one, n); }
    for (Shape* one : shapes) delete one;
}
"""  # noqa: E501
COMMANDS = [
    "g++ -O0",
    "g++ -O2",
    "g++ -O3 -no-pie",
    "g++ -O2 -fno-omit-frame-pointer",
    "g++ -O2 -fno-rtti",
    "clang++ -O2",
    "clang++ -O0",
    "clang++ -O3 -no-pie",
]


def built(folder: Path, command: Sequence[str]) -> str:
    need(command[0])
    (folder / "program.cpp").write_text(PROGRAM)
    subprocess.run([*command, "program.cpp", "-o", "program"], cwd=folder, check=True)
    return str(folder / "program")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_path_that_a_run_takes_is_among_those_of_its_key(tmp_path: Path, command: str):
    program = built(tmp_path, command.split())
    learnt = learning_run([program], program).path_map
    code = ProgramCode(program, None)
    for index, node in enumerate(learnt.nodes):
        path = code.named(tuple(functions_of(learnt, index))[::-1])
        allowed = code.allowed(node.function, node.height_bytes, 500)
        assert allowed.are_all
        assert path in allowed.paths
    assert code.truth(learnt).allowed_count == len(learnt.nodes)


@pytest.mark.parametrize("command", ["g++ -O2", "clang++ -O2", "clang++ -O0"])
def test_a_virtual_call_leads_to_no_function_at_another_offset(tmp_path: Path, command: str):
    program = built(tmp_path, command.split())
    code = ProgramCode(program, None)
    graph = code.graph
    (drawn,) = code.addresses_of("drawn(Shape*, long)")
    reached = {
        code.names.at(one).rpartition("::")[2]
        for transfer in graph.transfers
        if transfer.caller == drawn and transfer.callee is not None and transfer.kind == "pointer"
        for one in graph.targets(transfer) & graph.virtual.keys()
    }
    assert "draw(long)" in reached
    assert reached.isdisjoint({"move(long)", "name(long)", "save(long)", "load(long)"})
    known = {code.names.at(one).rpartition("::")[2] for one in graph.virtual}
    assert {"save(long)", "load(long)"} <= known


def test_a_virtual_function_that_code_names_too_is_reached_by_any_pointer(tmp_path: Path):
    # gcc compares the pointer with the function that it expects, which so is named in code.
    graph = read_call_graph(built(tmp_path, ["g++", "-O2"]))
    elsewhere = graph.taken - graph.virtual.keys()
    assert elsewhere
    calls = [one._replace(arguments=6) for one in graph.transfers if one.kind == "pointer"]
    assert all(elsewhere <= graph.targets(call) for call in calls)


@pytest.mark.parametrize("change", [["strip"], ["objcopy", "--strip-symbol=_ZTV5Other"]])
def test_without_symbols_of_tables_any_pointer_may_lead_to_virtual_functions(
    tmp_path: Path, change: list[str]
):
    program = built(tmp_path, ["g++", "-O2"])
    before = read_call_graph(program)
    subprocess.run([*change, program], check=True)
    after = read_call_graph(program)
    assert after.taken == before.taken
    assert len(after.virtual) < len(before.virtual)
