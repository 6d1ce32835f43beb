"""A folder with the small programs and files that the pages speak of, under their names there."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.documents.lines import ROOT, blocks

SAMPLES = ROOT / "tests" / "data" / "adapters"
CONSUMERS = ROOT / "build" / "consumers"
# What a page calls its programs. Each prints what any page wants of it, at once.
SCRIPTS = (
    *("a", "b", "client", "restart-server", "server", "solve", "sort", "bench"),
    *("base/prog", "head/prog", "build/old/parse", "build/new/parse"),
)
SCRIPT = """#!/bin/sh
echo "score: 12.5"
echo "iteration took 3.1 ms"
for i in 1 2 3 4 5 6 7 8 9 10; do echo "{\\"value\\": 0.00$i}"; done
"""
# `old add` and `new add` differ in a loop; asked for its JSON it prints that of Google Benchmark.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
volatile long sink;
__attribute__((noinline)) long work(long n) {
    long s = 0;
    for (long i = 0; i < n; i++) {
        s += i STEP;
        __asm__ volatile("" : "+r"(s)); /* no compiler finds the sum without the loop */
    }
    return s;
}
__attribute__((noinline)) void one(long n) { sink += work(n); }
__attribute__((noinline)) void two(long n) { sink += work(n / 2); }
__attribute__((noinline)) void three(long n) { sink += work(n / 4); }
__attribute__((noinline)) void *compress(size_t n) { return malloc(n); }
int main(int count, char **words) {
    if (count > 1 && strncmp(words[1], "--benchmark_format", 18) == 0) {
        FILE *file = fopen("gbench.json", "r");
        for (int c; (c = getc(file)) != EOF;) putchar(c);
        return fclose(file);
    }
    for (int i = 0; i < 10; i++) {
        one(SIZE); two(SIZE); three(SIZE);
        free(compress(100 + sink % 2));
    }
    FILE *log = fopen("program.log", "w");
    fprintf(log, "event start\\nevent end\\n");
    return fclose(log);
}
"""
THREADS = """
#include <pthread.h>
static void *run(void *unused) { for (volatile long i = 0; i < 30000000; i++) {} return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    run(0);
    return pthread_join(thread, 0);
}
"""
OTHER_LANGUAGES = {
    "program.cpp": '#include <cstdio>\nint main() { std::puts("C++"); }\n',
    "program.f90": "program main\n  print *, 'Fortran'\nend program\n",
    "program.rs": 'fn main() { println!("Rust"); }\n',
}
MAKEFILE = """CC ?= cc
CFLAGS ?= -O1
prog bench: part.o main.o
\t$(CC) $(CFLAGS) $(LDFLAGS) part.o main.o -o $@
%.o: %.c
\t$(CC) $(CFLAGS) -c $< -o $@
prog.c:
"""
HARNESS = """
import java.nio.file.*;
public class Harness {
    public static void main(String[] words) throws Exception {
        boolean jmh = String.join(" ", words).contains("-rf");
        String text = Files.readString(Path.of(jmh ? "jmh-sample.json" : "dacapo-sample.txt"));
        if (jmh) Files.writeString(Path.of("jmh-result.json"), text); else System.err.print(text);
    }
}
"""
PYPERF_OR_LINES = """
try:
    import pyperf
    pyperf.Runner(loops=1, warmups=0, values=2).timeit("sum", "sum(())")
except ImportError:
    for value in range(1, 21):
        print('{"value": %g}' % (value / 1000))
"""


STEELYARD = (sys.executable, "-m", "steelyard.cli.main")


PATHS = """
static volatile long sink;
static void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
static void left(int n) { leaf(n); sink++; }
static void right(int n) { leaf(n); sink--; }
int main(void) { for (int i = 0; i < 2000; i++) { left(i); right(i); } return 0; }
"""


def run(folder: Path, *words: str) -> None:
    subprocess.run(words, cwd=folder, check=True, capture_output=True)


def fill(folder: Path) -> None:
    """Make everything that more than one page names."""
    for name in SCRIPTS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SCRIPT)
        path.chmod(0o755)
    for name in ("data.txt", "corpus.txt", "big.json", "build/old/big.json", "test.lua"):
        (folder / name).write_text("the quick brown fox jumps over the lazy dog\n" * 300)
    shutil.copytree(ROOT / "examples", folder / "examples")
    for path in (folder / "examples").rglob("*.toml"):
        path.write_text(re.sub(r"^runs = \d+", "runs = 3", path.read_text(), flags=re.MULTILINE))
    (folder / "integrations").symlink_to(ROOT / "integrations")
    (folder / "bench.py").write_text(PYPERF_OR_LINES)
    for name, text in OTHER_LANGUAGES.items():
        (folder / name).write_text(text)
    _build(folder)
    _sources(folder)
    _harnesses(folder)
    _tables(folder)


def _build(folder: Path) -> None:
    """Programs of C: old, new and newer differ in a function; program is like old."""
    for name, step, size in (
        ("old", "* 3", 20000),
        ("new", "* 3 + (i & 7)", 20000),
        ("newer", "* 5 + (i & 3)", 20000),
        ("program", "* 3", 2_000_000),
        ("before", "* 3", 20000),
        ("after", "* 3 + (i & 7)", 20000),
    ):
        source = PROGRAM.replace("STEP", step).replace("SIZE", str(size))
        (folder / f"{name}.c").write_text(source)
        run(folder, "gcc", "-O1", "-g", f"{name}.c", "-o", name)
    (folder / "threads.c").write_text(THREADS)
    run(folder, "gcc", "-O1", "-g", "-pthread", "threads.c", "-o", "threads")


def _sources(folder: Path) -> None:
    """A source of two objects, and of one, with a makefile."""
    (folder / "src").mkdir()
    (folder / "src" / "Makefile").write_text(MAKEFILE)
    (folder / "src" / "part.c").write_text("int part(void) { return 0; }\n")
    main = (
        'int part(void);\n#include <stdio.h>\nint main(void) { puts("{\\"value\\": 0.5}"); '
        "return part(); }\n"
    )
    (folder / "src" / "main.c").write_text(main)
    (folder / "src" / "prog.c").write_text("int main(void) { return 0; }\n")


def _harnesses(folder: Path) -> None:
    """What harnesses print or write: recorded, and played by a Java program."""
    google = json.loads((SAMPLES / "google-benchmark.json").read_text())
    good = [row for row in google["benchmarks"] if not row.get("error_occurred")]
    names = list(dict.fromkeys(row["run_name"] for row in good))
    text = json.dumps(google).replace(f'"{names[0]}', '"BM_Sort')
    (folder / "gbench.json").write_text(text)
    runs = json.loads((SAMPLES / "jmh.json").read_text())
    (folder / "jmh-sample.json").write_text(json.dumps([_of_one_fork(runs)]))
    lines = [
        f"===== DaCapo 23.11-chopin fop completed warmup {i} in {700 - i} msec ====="
        for i in range(1, 30)
    ]
    lines.append("===== DaCapo 23.11-chopin fop PASSED in 601 msec =====")
    (folder / "dacapo-sample.txt").write_text("\n".join(lines) + "\n")
    for name in ("jmh-result", "old", "new", "base", "head"):
        shutil.copy(SAMPLES / "jmh.json", folder / f"{name}.json")
    raw = folder / "target" / "criterion" / "sort" / "new" / "raw.csv"
    raw.parent.mkdir(parents=True)
    shutil.copy(SAMPLES / "criterion/Fibonacci/Recursive/5/new/raw.csv", raw)
    (folder / "classes").mkdir()
    (folder / "Harness.java").write_text(HARNESS)
    if shutil.which("javac"):
        run(folder, "javac", "-d", "classes", "Harness.java", "examples/profile/YieldPoints.java")
        for jar in ("benchmarks.jar", "dacapo.jar"):
            with zipfile.ZipFile(folder / jar, "w") as file:
                file.write(folder / "classes" / "Harness.class", "Harness.class")
                file.writestr(
                    "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Harness\n"
                )


def _of_one_fork(runs: list[dict]) -> dict:
    run_of_jmh = next(each for each in runs if each["mode"] == "avgt")
    metric = run_of_jmh["primaryMetric"]
    metric["rawData"] = metric["rawData"][:1]
    return {**run_of_jmh, "forks": 1, "secondaryMetrics": {}}


def _tables(folder: Path) -> None:
    """Tables with the columns that the pages name, of seeded numbers."""
    draw = random.Random(20261123)

    def table(name: str, heads: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
        with open(folder / name, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(heads)
            writer.writerows(rows)

    table(
        "trials.csv",
        ("program", "aslr", "pie", "level", "link_order", "environment", "seconds"),
        [
            (program, aslr, pie, level, order, size, 1 + draw.gauss(0, 0.01))
            for program in ("p", "q")
            for aslr in ("on", "off")
            for pie in ("on", "off")
            for level in ("-O2", "-O3")
            for order in (1, 2)
            for size in (16, 272)
            for _ in range(2)
        ],
    )
    # Plackett and Burman's design of 8 runs.
    row = [1, 1, 1, -1, 1, -1, -1]
    design = [row[i:] + row[:i] for i in range(7)] + [[-1] * 7]
    table(
        "runs.csv",
        (*"abcdefg", "seconds"),
        [(*levels, 10 + 3 * levels[0] + draw.gauss(0, 0.1)) for levels in design],
    )
    table(
        "measurements.txt",
        ("variant", "value"),
        [(name, 0.1 + draw.gauss(0, 0.001)) for _ in range(5) for name in ("old", "new")],
    )
    table(
        "results.csv",
        ("series", "revision", "value"),
        [("sort", i, 10 + (i > 20) + draw.gauss(0, 0.05)) for i in range(40)],
    )
    levels = [(b, e, i) for b in range(1, 5) for e in range(1, 5) for i in range(1, 5)]
    table(
        "times.csv",
        ("build", "execution", "iteration", "value", "cost_build_s", "cost_execution_s"),
        [(*place, 10 + draw.gauss(0, 0.2), 90, 25.5) for place in levels],
    )
    (folder / "part.json").write_text(next(blocks(Path("docs/commands/trial.md"), "json")))


def history(folder: Path) -> None:
    """A repository of 60 revisions, of which one made `cost.txt` dearer."""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    run(folder, *git, "init", "--quiet", ".")
    (folder / "Makefile").write_text("all:\n\ttrue\n")
    (folder / "works").write_text("1\n")
    for revision in range(60):
        (folder / "cost.txt").write_text(f"cost: {1 if revision < 40 else 1.1} units {revision}\n")
        if revision == 0:
            run(folder, *git, "add", "Makefile", "works", "cost.txt", "bench", "sort")
        run(folder, *git, "commit", "--quiet", "-a", "-m", f"revision {revision}")
    results = folder / ".asv" / "results" / "lab1"
    results.mkdir(parents=True)
    shutil.copy(ROOT / "tests/data/track_readers/asv.json", results / "asv.json")


def layout(folder: Path) -> None:
    """Programs that move, under the names that pages give them."""
    for source, name in (
        ("program", "half"),
        ("program", "program"),
        ("before", "before"),
        ("after", "after"),
    ):
        run(folder, *STEELYARD, "cc", "-O1", f"{source}.c", "-o", name)


def predictions(folder: Path) -> None:
    """`times.csv` is of hosts on this page, not of builds; two pairs of revisions are known."""
    text = (ROOT / "examples/platforms/times.csv").read_text()
    (folder / "times.csv").write_text(text.replace("my-program", "458.sjeng"))
    run(folder, "valgrind", "--tool=callgrind", "--callgrind-out-file=sum.out", "./old", "sum")
    for changed, new in (("yes", "new"), ("no", "old"), ("yes", "newer"), ("no", "old")):
        pair = ("--old", "old", "--new", new, "--use", "sum=sum.out")
        row = ("--append", "pairs.csv", "--changed", changed, "--unknown", f"{changed}-{new}")
        run(folder, *STEELYARD, "predict", "commits", "indicators", *pair, *row)


def paths(folder: Path) -> None:
    """A program whose functions are called on several paths, and its path map, where the page is
    by then."""
    where = folder / "examples" / "profile"
    (where / "c.c").write_text(PATHS)
    run(where, "gcc", "-O1", "-g", "-fno-inline", "c.c", "-o", "c")
    steelyard = (sys.executable, "-m", "steelyard.cli.main")
    run(where, *steelyard, "profile", "paths", "learn", "-o", "c.map", "--", "./c")


def go(folder: Path) -> None:
    """Two benchmarks of Go, and what they gave before."""
    for source in {*folder.glob("*.c"), *folder.glob("program.*")}:
        source.unlink()  # go takes them for parts of its package
    (folder / "go.mod").write_text("module words\n\ngo 1.19\n")
    (folder / "words_test.go").write_text(
        'package words\n\nimport "testing"\n\nvar sink int\n\n'
        "func BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += i\n\t}\n}\n"
    )
    lines = [f"BenchmarkSum-{os.cpu_count()} 100 {120 + i} ns/op" for i in range(5)]
    (folder / "new.txt").write_text("\n".join(["goos: linux", *lines]) + "\n")


def project_file(folder: Path) -> None:
    """The page's own file."""
    text = next(blocks(Path("docs/project-file.md"), "toml"))
    (folder / "steelyard.toml").write_text(text.replace("2min", "16runs"))


def package(folder: Path) -> None:
    """Archives of a benchmark package, and a package with the faults that the page shows."""
    source = ROOT / "examples" / "packages" / "xz"
    for name in ("sorting", "old", "new"):
        shutil.make_archive(str(folder / name), "gztar", source)
    bad = folder / "bad"
    shutil.copytree(source, bad)
    (bad / "run.sh").chmod(0o644)
    (bad / "collect.sh").write_bytes((bad / "collect.sh").read_bytes().replace(b"\n", b"\r\n"))
