"""`steelyard predict commits indicators` and `ask` on programs that are built here."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.commit_pairs.made import build, made_pairs, profile, wrong_answers, wrongly_blamed
from benchmarks.commit_pairs.made_programs import PROGRAMS, edits, source_of
from tests.needs import need

PROGRAM = "checksum"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Five programs with an edit of each kind."""
    need("valgrind")
    folder = tmp_path_factory.mktemp("made")
    return list(made_pairs(folder, PROGRAMS, (("gcc", "-O2"),)))


def test_edits_that_can_change_a_time_are_told_from_those_that_cannot(pairs):
    assert len(pairs) == 5 * len(edits(PROGRAM))
    assert [(pair.program, pair.edit.kind) for pair in wrong_answers(pairs)] == []


def test_the_function_that_was_edited_is_named_first(pairs):
    planted = [pair for pair in pairs if pair.edit.function]
    assert len(planted) >= 20
    assert len(wrongly_blamed(pairs)) <= len(planted) // 4


@pytest.fixture
def programs(tmp_path):
    """An old program, its profile, and the edits of it that were built."""
    need("valgrind")
    old = build(tmp_path / "old", source_of(PROGRAM), ("gcc", "-O2"))
    chosen = {edit.kind: edit for edit in edits(PROGRAM)}

    def edited(kind):
        folder = tmp_path / kind.replace(" ", "-")
        return build(folder, source_of(PROGRAM, chosen[kind]), ("gcc", "-O2"))

    return old, profile(old), edited


def test_rows_are_added_to_a_table_that_is_learnt_from_and_asked(user, programs, tmp_path):
    old, use, edited = programs
    table = tmp_path / "pairs.csv"
    for kind, changed in (("constant", "yes"), ("comment", "no"), ("cold function", "no")):
        told = user.types(
            "predict", "commits", "indicators", "--old", str(old), "--new", str(edited(kind)),
            "--use", f"sum={use}", "--unknown", kind, "--changed", changed,
            "--append", str(table), "--json", "-",
        )  # fmt: skip
        assert told.status == 0, told.err
        assert told.document()["benchmarks"][0]["benchmark"] == "sum"
    kept = str(tmp_path / "predictor.json")
    assert user.types("predict", "commits", "learn", str(table), "--output", kept).status == 0
    asked = user.types(
        "predict", "commits", "ask", kept, "--old", str(old), "--new", str(edited("data table")),
        "--use", f"sum={use}", "--json", "-",
    )  # fmt: skip
    assert asked.status == 0, asked.err
    (found,) = asked.document()["benchmarks"]
    assert "Function work" in found["reasons"][0]
    assert "table" in found["reasons"][0]


def test_the_verdict_of_a_comparison_is_the_label_of_a_pair(user, programs, tmp_path):
    """Whatever the verdict of a few runs is."""
    old, use, edited = programs
    new, table, compared = edited("constant"), tmp_path / "pairs.csv", tmp_path / "compared.json"
    told = user.types("compare", str(old), str(new), "--runs", "3", "--json", str(compared))
    assert told.status == 0, told.err
    (comparison,) = json.loads(compared.read_text())["comparisons"]
    words = (
        "predict", "commits", "indicators", "--old", str(old), "--new", str(new),
        "--use", f"sum={use}", "--verdict", f"sum={compared}",
    )  # fmt: skip
    told = user.types(*words, "--append", str(table))
    assert told.status == 0, told.err
    header, row = (line.split(",") for line in table.read_text().splitlines())
    assert row[header.index("changed")] == comparison["verdict"]
    assert "--verdict is about --append PAIRS" in user.types(*words).err
    told = user.types(*words, "--append", str(table), "--changed", "no")
    assert "name one" in told.err


def test_a_repository_tells_which_sources_differ_and_how_far(user, programs, tmp_path):
    old, use, edited = programs
    new, table = edited("constant"), tmp_path / "pairs.csv"
    home = tmp_path / "repository"
    home.mkdir()
    git = ("git", "-C", str(home), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "init", "-q"], check=True)
    for number, content in enumerate(("one\n", "one\n", "two\nthree\n")):
        (home / "a.c").write_text(content)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
        subprocess.run([*git, "tag", f"v{number}"], check=True)

    def told(known, unknown):
        return user.types(
            "predict", "commits", "indicators", "--old", str(old), "--new", str(new),
            "--use", f"sum={use}", "--repository", str(home), "--known", known,
            "--unknown", unknown, "--append", str(table), "--json", "-",
        )  # fmt: skip

    found = told("v0", "v2").document()
    assert found["sources"] == [{"file": "a.c", "lines": 3}]
    header, row = (line.split(",") for line in table.read_text().splitlines())
    cells = dict(zip(header, row, strict=True))
    assert (cells["known"], cells["unknown"]) == ("v0", "v2")
    assert (cells["order"], cells["distance"]) == ("3", "2")
    found = told("v0", "v1").document()
    assert found["sources"] == []
    assert "unchanged-sources" in [one["code"] for one in found["warnings"]]
    assert "no revision 'v3'" in told("v0", "v3").err
    assert "--known REVISION is missing" in told("", "v1").err


def test_samples_of_steelyard_stand_for_instructions(user, programs, tmp_path):
    old, _, edited = programs
    functions = [
        {"name": name, "object": str(old), "samples": count}
        for name, count in (("work", 70), ("step", 30))
    ]
    light = tmp_path / "profile.json"
    light.write_text(json.dumps({"kind": "profile", "functions": functions}))
    told = user.types(
        "predict", "commits", "indicators", "--old", str(old), "--new", str(edited("constant")),
        "--use", f"sum={light}",
    )  # fmt: skip
    assert told.status == 0, told.err
    assert "Function work, 70 % of the instructions of sum" in told.out


def refused(user, old, new, use, words, status=2):
    told = user.types(
        "predict", "commits", "indicators", "--old", str(old), "--new", str(new), "--use", use
    )
    assert told.status == status, told.out
    assert words in told.err
    assert "Traceback" not in told.err
    # Whatever folder the tests are called in.
    first = told.err.splitlines()[0].replace(str(new), "NEW").replace(str(old), "OLD")
    assert len(first) < 200


def test_files_that_are_no_programs_are_refused_in_one_sentence(user, programs, tmp_path):
    old, use, _ = programs
    whole = old.read_bytes()
    for number, content in enumerate((b"", b"text", whole[:64], whole[:5000], whole[:-2000])):
        damaged = tmp_path / f"damaged{number}"
        damaged.write_bytes(content)
        refused(user, old, damaged, f"sum={use}", f"{damaged} cannot be read")
    refused(user, old, tmp_path, f"sum={use}", "is no file")
    refused(user, old, tmp_path / "none", f"sum={use}", "cannot be read")
    refused(user, old, old, "sum", "NAME=FILE")
    refused(user, old, old, f"sum={old}", "not a profile of callgrind")


def test_the_reader_limits_its_own_memory_and_time():
    """It waits with a full pipe until its limits have been looked at."""
    import shutil

    from steelyard.core.native_program import native_program

    program = shutil.which("git") or "/usr/bin/python3"
    size_bytes = Path(program).stat().st_size
    reader = [native_program("steelyard-bodies", "the reader of bodies"), program]
    with subprocess.Popen(reader, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"{"
        lines = Path(f"/proc/{process.pid}/limits").read_text().splitlines()
        process.kill()
    limits = {line[:25].strip(): line[26:].split()[0] for line in lines}
    assert int(limits["Max data size"]) == (512 << 20) + 8 * size_bytes
    assert int(limits["Max cpu time"]) == 60 + size_bytes // 1_000_000
    assert limits["Max core file size"] == "0"


def test_bytes_that_were_turned_over_never_bring_the_reader_down(programs):
    """Damage anywhere in the headers and tables gives an answer or one sentence."""
    import random

    from steelyard.core.native_program import native_program

    old, _, _ = programs
    whole, chance = bytearray(old.read_bytes()), random.Random(5)
    reader = native_program("steelyard-bodies", "the reader of bodies")
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 8, 64))):
            near_end = chance.random() < 0.5
            place = chance.randrange(len(whole) - 3000 if near_end else 0, len(whole))
            damaged[place] = chance.randrange(256)
        target = old.with_name("damaged")
        target.write_bytes(damaged)
        done = subprocess.run([reader, str(target)], capture_output=True, check=False, timeout=60)
        assert done.returncode in (0, 1)
        if done.returncode == 0:
            json.loads(done.stdout)
        else:
            assert done.stderr.count(b"\n") == 1


SOURCE = """
static const int table[8] = {1, 2, 3, 4, 5, 6, 7, LAST}; int outside(int);
__attribute__((noinline)) int hot(int n) {
    int s = 0; for (int i = 0; i < n; i++) s += table[(i ^ s) & 7] * FACTOR; return s; }
int entry(int n) { return hot(n) + outside(n); }
"""


def arm(folder, first="", **words):
    """A library for AArch64; nothing of that machine has to be installed."""
    need("clang")
    need("ld.lld")
    folder.mkdir(parents=True)
    (folder / "library.c").write_text(first + SOURCE)
    options = [f"-D{key}={value}" for key, value in {"LAST": 8, "FACTOR": 3, **words}.items()]
    call = ["clang", "--target=aarch64-linux-gnu", "-O2", "-fPIC", "-nostdlib", "-shared"]
    call += ["-fuse-ld=lld", "library.c", "-o", "library.so", *options]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    return folder / "library.so"


def test_code_of_aarch64_that_only_moved_has_not_changed(user, programs, tmp_path):
    from steelyard.binary.code_reader import read_code
    from steelyard.predict.commits.code_change import compare_programs

    old = arm(tmp_path / "arm" / "old")
    moved = arm(tmp_path / "arm" / "moved", first="int pad(int a) { return a * 7 + (a >> 3); }\n")
    factor, last = (
        arm(tmp_path / "arm" / "factor", FACTOR=5),
        arm(tmp_path / "arm" / "last", LAST=9),
    )
    code = {path: read_code(str(path)) for path in (old, moved, factor, last)}
    assert code[old].machine == "aarch64"

    def changes(new):
        found = compare_programs(code[old], code[new])
        return {found.old.names[place] for place in found.changed}, dict(found.data)

    assert changes(moved) == (set(), {})
    assert changes(factor) == ({"hot"}, {})
    assert changes(last)[0] == set()
    assert list(changes(last)[1].values()) == [("table",)]
    x86, use, _ = programs
    refused(user, x86, old, f"sum={use}", "is for x86-64, the new one for aarch64")


def test_a_plan_names_the_call_that_weighs_both_programs(user, programs, tmp_path):
    old, use, edited = programs
    table, kept = tmp_path / "pairs.csv", str(tmp_path / "predictor.json")
    table.write_text(
        "benchmark,unknown,changed,changed-share,top-by-instructions\n"
        "sum,a,yes,60,100\nsum,b,no,1,10\nsum,c,yes,40,90\nsum,d,no,0,0\nsum,e,no,2,15\n"
    )
    assert user.types("predict", "commits", "learn", str(table), "--output", kept).status == 0
    new = edited("constant")
    told = user.types(
        "predict", "commits", "plan", kept, "--old", str(old), "--new", str(new), "--use",
        f"sum={use}", "--command", "sum={program} 1", "--json", "-",
    )  # fmt: skip
    assert told.status == 0, told.err
    (planned,) = told.document()["benchmarks"]
    assert planned["compare"] == f"steelyard compare '{old} 1' '{new} 1'"


MIXED = """
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#include <cstdio>
FIRST
static const double factors[32] = {1, 2.5, 3.25, 4, 5, 6, 7};
struct Shape { virtual double area(double) const = 0; virtual ~Shape() {} };
struct Square : Shape { double area(double x) const override { return x * x * factors[3]; } };
struct Circle : Shape { double area(double x) const override { return 3.14159 * x * x; } };
__attribute__((noinline)) int chosen(int x, int y) {
    switch (x) {
        case 0: return y * 3;
        case 1: return y / 7;
        case 2: return y ^ x;
        case 3: return y - 99;
        case 4: return y % 13;
        case 5: throw std::runtime_error("five");
        case 6: return y + ADDED;
        default: return 0;
    }
}
__attribute__((noinline)) const char *named(int x) {
    switch (x) {
        case 0: return "zero";
        case 1: return "one";
        case 2: return "two";
        case 3: return "three";
        default: return "k";
    }
}
int main(int count, char **) {
    std::map<std::string, int> all;
    std::vector<Shape *> shapes{new Square, new Circle};
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        sum += shapes[i & 1]->area(i) + chosen(i % 5, i);
        all[named(i % 6)] += count;
    }
    std::printf("%f %zu\\n", sum, all.size());
}
"""
PAD = "__attribute__((used, noinline)) int pad(int a) { return a * 77 + (a >> 3) + a / 11; }"


@pytest.mark.parametrize(
    "command",
    ["g++ -O2", "g++ -O2 -no-pie", "g++ -O3 -march=haswell", "clang++ -O2", "g++ -O0"],
)
def test_code_with_jump_tables_texts_and_constants_has_not_changed_where_it_only_moved(
    command, tmp_path
):
    from steelyard.binary.code_reader import read_code
    from steelyard.predict.commits.code_change import compare_programs

    needs_compiler = command.split()
    need(needs_compiler[0])

    def built(name, first="", added=5):
        folder = tmp_path / name
        folder.mkdir()
        text = MIXED.replace("FIRST", first).replace("ADDED", str(added))
        (folder / "mixed.cpp").write_text(text)
        call = [*needs_compiler, "mixed.cpp", "-o", "mixed"]
        subprocess.run(call, cwd=folder, check=True, capture_output=True)
        return folder / "mixed"

    old = built("old")
    code = read_code(str(old))
    moved = compare_programs(code, read_code(str(built("moved", first=PAD))))
    assert {moved.old.names[place] for place in moved.changed} == set()
    assert dict(moved.data) == {}
    edited = compare_programs(code, read_code(str(built("edited", added=6))))
    assert {edited.old.names[place] for place in edited.changed} == {"_Z6chosenii"}
    subprocess.run(["strip", str(old)], check=True)
    stripped = compare_programs(code, read_code(str(old)))
    changed = {stripped.old.names[place] for place in stripped.changed}
    # Many functions of a program without optimisation are the same: any may be any other's.
    assert changed == set() or command == "g++ -O0"
    assert len(changed) <= 0.1 * len(code)


HOT = """#include <stdio.h>
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) unsigned hot(unsigned count) {
    unsigned sum = 0;
    for (unsigned at = 0; at < count; at++) {
        sum += at * sink;
        if (sum == 12345)
            RARE;
    }
    return sum;
}
int main(int count, char** given) {
    sink = (unsigned)count;
    printf("%u\\n", hot(2000000u * (unsigned)(count + 0 * (given == NULL))) LATER);
    return 0;
}
"""


def test_an_edit_of_a_hot_function_where_no_run_goes_is_no_reason_to_run(user, tmp_path):
    def built(name, rare, later=""):
        text = HOT.replace("RARE", rare).replace("LATER", later)
        return build(tmp_path / name, text, ["gcc", "-O1"])

    old = built("old", "sink = 7")
    use = profile(old)

    def indicators(new):
        told = user.types(
            "predict", "commits", "indicators", "--old", str(old), "--new", str(new),
            "--use", f"hot={use}", "--json", "-",
        )  # fmt: skip
        assert told.status == 0, told.err
        (found,) = told.document()["benchmarks"]
        return found["indicators"], found["reasons"][0]

    unreached, reason = indicators(built("unreached", "sink = 9"))
    assert unreached["changed-share"] > 50
    assert unreached["executed-edits"] == unreached["altered-operands"] == 0
    assert reason.startswith("Function hot, ")
    assert reason.endswith(", but not where hot goes.")
    reached, _ = indicators(built("reached", "sink = 7", "+ sink"))
    assert 0 < reached["executed-edits"] < 5


SWITCHED = r"""
#include <stdio.h>
#include <stdlib.h>
volatile int sink;
FILL
__attribute__((noinline)) double work(const unsigned char* text, int count) {
    double sum = 0;
    for (int at = 0; at < count; at++) {
        switch (text[at] % 24) {
            case 0: sink += 3; break;
            case 6: sink -= 5; break;
            case 2: sink ^= 77; break;
            case 3: sink *= 9; break;
            case 4: sink |= 4; break;
            case 5: sink += at; break;
            case 7: sum += RATIO; break;
            default: abort();
        }
    }
    return sum;
}
int main(void) {
    static unsigned char text[1000];
    for (int at = 0; at < 1000; at++)
        text[at] = at % 8 == 1 ? 7 : at % 8;
    return work(text, 1000) < 0;
}
"""


def indicators_of(user, old, use, new):
    told = user.types(
        "predict", "commits", "indicators", "--old", str(old), "--new", str(new),
        "--use", f"b={use}", "--json", "-",
    )  # fmt: skip
    assert told.status == 0, told.err
    return told.document()["benchmarks"][0]["indicators"]


def test_a_switch_that_only_moved_is_the_same_though_its_default_is_in_another_place(
    user, tmp_path
):
    need("valgrind")
    text = SWITCHED.replace("RATIO", "1.5")
    before = build(tmp_path / "old", text.replace("FILL", ""), ("gcc", "-O2"))
    fill = "int filled(int a) { for (int b = 0; b < a; b++) sink += b * a; return sink / 7; }"
    cold = "__attribute__((cold)) void colder(void) { sink = 4; abort(); }"
    after = build(tmp_path / "new", text.replace("FILL", fill + cold), ("gcc", "-O2"))
    listed = subprocess.run(["objdump", "-d", before], capture_output=True, text=True, check=True)
    assert "work.cold" in listed.stdout
    assert "jmp    *%r" in listed.stdout
    found = indicators_of(user, before, profile(before), after)
    assert found["data-changed"] == found["changed-share"] == 0


def test_a_number_that_the_compiler_put_into_read_only_data_is_a_constant(user, tmp_path):
    need("valgrind")
    text = SWITCHED.replace("FILL", "")
    before = build(tmp_path / "old", text.replace("RATIO", "1.5"), ("gcc", "-O2"))
    after = build(tmp_path / "new", text.replace("RATIO", "2.5"), ("gcc", "-O2"))
    found = indicators_of(user, before, profile(before), after)
    assert found["altered-constants"] == 1
    assert found["executed-edits"] == found["altered-leads"] == 0


CALLED = """
namespace scale {
struct Beam {
    int sum(const char *text, int count) const __attribute__((noinline));
};
int Beam::sum(const char *text, int count) const {
    int found = 0;
    for (int at = 0; at < count; at++)
        found += text[at % 4] * WEIGHT;
    return found;
}
}
int main() { return scale::Beam().sum("abcd", 5000) == 1; }
"""


def test_functions_of_c_plus_plus_are_named_as_programmers_write_them(user, tmp_path):
    need("g++")
    need("valgrind")
    for weight in (3, 5):
        source = tmp_path / f"{weight}.cpp"
        source.write_text(CALLED.replace("WEIGHT", str(weight)))
        call = ["g++", "-O2", str(source), "-o", str(tmp_path / f"run{weight}")]
        subprocess.run(call, check=True)
    old, new = tmp_path / "run3", tmp_path / "run5"
    told = user.types(
        "predict", "commits", "indicators", "--old", str(old), "--new", str(new),
        "--use", f"sum={profile(old)}",
    )  # fmt: skip
    assert told.status == 0, told.err
    assert "Function scale::Beam::sum(char const*, int) const, " in told.out
