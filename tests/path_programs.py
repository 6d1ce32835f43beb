"""Programs with all that is hard about call paths, from a seed, and a logger that tells their paths.

The logger notes entries and exits, which the compiler calls (-finstrument-functions), keeps a stack
of its own, and is told of longjmp and of coroutines by the program: it unwinds nothing.
"""

# ruff: noqa: E501
# The programs are C++.
from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from steelyard.analysis.paths.path_map import NO_CALL_SITE, ROOT, PathNode, PathNumbers

_CALLED_BACK = {"main", "in_thread", "compare", "handler", "in_coroutine"}
LOGGER = r"""
#include <dlfcn.h>
#include <link.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>
#define API extern "C" __attribute__((no_instrument_function, visibility("default")))
struct Node { long parent; void* function; long count; void* site; };
static std::vector<Node>& nodes() { static auto* found = new std::vector<Node>; return *found; }
typedef std::pair<std::pair<long, void*>, void*> Step;
static std::map<Step, long>& places() { static auto* found = new std::map<Step, long>; return *found; }
static std::mutex& lock() { static auto* found = new std::mutex; return *found; }
static thread_local std::map<int, std::vector<long>>* stacks;
static thread_local int current;
static std::vector<long>& stack() { if (!stacks) stacks = new std::map<int, std::vector<long>>; return (*stacks)[current]; }
API void __cyg_profile_func_enter(void* function, void* site) {
    auto& own = stack();
    const long parent = own.empty() ? -1 : own.back();
    std::lock_guard<std::mutex> held(lock());
    auto [place, is_new] = places().try_emplace({{parent, function}, site}, (long)nodes().size());
    if (is_new) nodes().push_back({parent, function, 0, site});
    ++nodes()[place->second].count;
    own.push_back(place->second);
}
API void __cyg_profile_func_exit(void*, void*) { stack().pop_back(); }
API unsigned long logged_depth() { return stack().size(); }
API void logged_jump(unsigned long depth) { stack().resize(depth); }
API int logged_switch(int other) { int old = current; current = other; return old; }
__attribute__((destructor)) static void write() {
    ElfW(Addr) base = 0;
    dl_iterate_phdr([](dl_phdr_info* info, size_t, void* to) { *(ElfW(Addr)*)to = info->dlpi_addr; return 1; }, &base);
    FILE* file = fopen(getenv("LOGGED_PATHS"), "w");
    for (auto& node : nodes()) fprintf(file, "%ld %lu %ld %ld\n", node.parent, (unsigned long)node.function - base, node.count, (long)((unsigned long)node.site - base));
    fclose(file);
}
"""
HEAD = r"""
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define QUIET __attribute__((no_instrument_function))
#define FUNCTION static __attribute__((noinline, noclone))
extern "C" { unsigned long logged_depth(); void logged_jump(unsigned long); int logged_switch(int); }
static volatile long sink;
static thread_local long left;
static thread_local ucontext_t home, away;
static thread_local char away_stack[1 << 18];
typedef long Called(long, long, long, long, long, long, long, long);
"""


def source(seed: int) -> str:
    """A C++ program of some functions that call each other in all the ways there are."""
    draw = random.Random(seed)
    count = draw.randint(6, 14)
    declared = "".join(
        f"FUNCTION long f{k}(long, long, long, long, long, long, long, long);\n"
        for k in range(count)
    )
    table = f"static Called* const table[] = {{{', '.join(f'f{k}' for k in range(count))}}};\n"
    bodies = "".join(_body(k, count, draw) for k in range(count))
    return HEAD + declared + table + _COMMON + bodies + _main(count, draw)


_COMMON = r"""
FUNCTION int compare(const void* a, const void* b) {
    if (left > 0 && (*(const int*)a & 3) == 0) { --left; sink += f0(1, 0, 0, 0, 0, 0, 0, 0); }
    return *(const int*)a - *(const int*)b;
}
FUNCTION void sorted(int n) {
    int values[40];
    for (int k = 0; k < n; ++k) values[k] = (k * 7919 + n) % 37;
    qsort(values, n, sizeof *values, compare);
    sink += values[0];
}
FUNCTION void handler(int) { sink += 1; }
FUNCTION long deep(long n) { return n == 0 ? 1 : deep(n - 1) + (sink & 1); }
FUNCTION void leave(jmp_buf& to, long n) { if (n == 0) longjmp(to, 1); leave(to, n - 1); sink += n; }
FUNCTION void jumped(long n) {
    jmp_buf to;
    const unsigned long depth = logged_depth();
    if (setjmp(to) == 0) leave(to, n);
    else logged_jump(depth);
}
FUNCTION void fail(long n) { if (n == 0) throw 7; fail(n - 1); sink += n; }
FUNCTION void caught(long n) { try { fail(n); } catch (int) { sink += 2; } }
FUNCTION void in_coroutine() { sink += f0(2, 0, 0, 0, 0, 0, 0, 0); logged_switch(0); swapcontext(&away, &home); f0(1, 0, 0, 0, 0, 0, 0, 0); logged_switch(0); swapcontext(&away, &home); }
FUNCTION void coroutine() {
    static thread_local int used;
    if (used) return;
    used = 1;
    getcontext(&away);
    away.uc_stack.ss_sp = away_stack;
    away.uc_stack.ss_size = sizeof away_stack;
    away.uc_link = &home;
    makecontext(&away, in_coroutine, 0);
    logged_switch(1);
    swapcontext(&home, &away);
    sink += f0(1, 0, 0, 0, 0, 0, 0, 0);
    logged_switch(1);
    swapcontext(&home, &away);
}
"""


def _body(number: int, count: int, draw: random.Random) -> str:
    lines = [f"FUNCTION long f{number}(long n, long b, long, long, long, long, long, long h) {{"]
    size = draw.choice([0, 8, 24, 40, 200])
    if size:
        lines.append(f"    volatile char room[{size}]; room[n & 7] = 1;")
    if draw.random() < 0.4:
        lines.append(
            "    long various[(n & 7) + 2]; memset(various, 0, sizeof various); sink += various[1];"
        )
    lines.append("    if (n <= 0 || left <= 0) return b + h;\n    --left;\n    long sum = h;")
    calls = ["direct", "direct", "pointer", "last"]
    calls += ["sorted", "jumped", "caught", "coroutine", "signal"]
    for _ in range(draw.randint(1, 4)):
        other = draw.randrange(count)
        call = draw.choice(calls)
        if call == "direct":
            lines.append(f"    sum += f{other}(n - 1, sum, 1, 2, 3, 4, 5, n);")
        elif call == "pointer":
            lines.append(f"    sum += table[(n + {other}) % {count}](n - 1, 0, 1, 2, 3, 4, 5, 6);")
        elif call == "last":
            lines.append(f"    if (n & 1) return f{other}(n - 1, b, 1, 2, 3, 4, 5, h);")
        elif call == "sorted":
            lines.append(f"    sorted({draw.randint(2, 40)});")
        elif call == "coroutine":
            lines.append("    coroutine();")
        elif call == "signal":
            lines.append("    raise(SIGUSR1);")
        else:
            lines.append(f"    {call}({draw.randint(0, 5)});")
    return "\n".join([*lines, "    return sum;\n}\n"])


def _main(count: int, draw: random.Random) -> str:
    starts = "".join(
        f"    left = 300;\n    sink += f{draw.randrange(count)}({draw.randint(2, 7)}, 1, 2, 3, 4, 5, 6, 7);\n"
        for _ in range(4)
    )
    return (
        f"FUNCTION void* in_thread(void* p) {{\n{starts}    return p;\n}}\n"
        f"int main() {{\n    signal(SIGUSR1, handler);\n    sink += deep(10000);\n{starts}"
        "    pthread_t threads[3];\n"
        "    for (auto& thread : threads) pthread_create(&thread, nullptr, in_thread, nullptr);\n"
        "    for (auto& thread : threads) pthread_join(thread, nullptr);\n    return 0;\n}\n"
    )


def built_logger(folder: Path) -> Path:
    """The library that logs paths."""
    (folder / "logger.cpp").write_text(LOGGER)
    library = folder / "liblogger.so"
    subprocess.run(
        ["g++", "-O1", "-fPIC", "-shared", "logger.cpp", "-o", library.name], cwd=folder, check=True
    )
    return library


def built_program(folder: Path, seed: int, *flags: str, is_logged: bool = True) -> Path:
    """A program, which logs its paths by the library beside it where that is asked."""
    (folder / f"p{seed}.cpp").write_text(source(seed))
    logged = ["-finstrument-functions"] if is_logged else []
    command = ["g++", "-w", *logged, *flags, f"p{seed}.cpp", "-o", f"p{seed}"]
    subprocess.run(
        [*command, "-L.", "-llogger", "-Wl,-rpath,$ORIGIN", "-pthread"], cwd=folder, check=True
    )
    return folder / f"p{seed}"


def logged_paths(path: Path) -> list[PathNode]:
    """The tree of all paths that were taken; nothing is said of heights and call sites."""
    rows = (map(int, line.split()) for line in path.read_text().splitlines())
    return [PathNode(parent, function, 0, count) for parent, function, count, _ in rows]


def with_logged_sites(
    nodes: Sequence[PathNode], path: Path, own: Mapping[int, str]
) -> list[PathNode]:
    """Logged nodes with where their calls return to, but of functions that the C library calls: it
    is not in the program where those return to.
    """
    rows = (map(int, line.split()) for line in path.read_text().splitlines())
    sites = [site for *_, site in rows]
    return [
        node if called_back(node, own) else node._replace(call_site=site)
        for node, site in zip(nodes, sites, strict=True)
    ]


def called_back(node: PathNode, names: Mapping[int, str]) -> bool:
    """Whether a function is one that the C library or the kernel calls."""
    return names[node.function].partition("(")[0] in _CALLED_BACK


def without_callbacks(nodes: Sequence[PathNode], names: Mapping[int, str]) -> list[PathNode]:
    """The same nodes, as `with_logged_sites` has them."""
    return [
        node._replace(call_site=NO_CALL_SITE) if called_back(node, names) else node
        for node in nodes
    ]


def counted_paths(nodes: Sequence[PathNode], numbers: PathNumbers) -> Counter[int]:
    """How often each path was called, by its number."""
    counts: Counter[int] = Counter()
    for node, path in zip(nodes, numbers.of(nodes), strict=True):
        counts[path] += node.call_count
    return +counts


def counted_keys(
    nodes: Sequence[PathNode],
    numbers: PathNumbers,
    sizes: Mapping[int, int],
    hidden: Collection[int] = (),
) -> Counter[tuple[int, int]]:
    """How often each path was called at each height, with frames that are so much larger."""
    counts: Counter[tuple[int, int]] = Counter()
    grown: list[int] = []
    for node, path in zip(nodes, numbers.of(nodes), strict=True):
        below = 0
        if node.parent != ROOT:
            below = grown[node.parent] + sizes.get(nodes[node.parent].function, 0)
        grown.append(below)
        if path not in hidden:
            counts[path, node.height_bytes + below] += node.call_count
    return +counts


def flags_of(seed: int) -> list[str]:
    """How the program of a seed is built."""
    flags = [f"-O{seed % 4}"]
    flags += ["-fno-pie", "-no-pie"] if seed % 3 == 0 else []
    return flags + (["-fno-omit-frame-pointer"] if seed % 5 == 0 else [])


def nodes_through(nodes: Sequence[PathNode], functions: Collection[int]) -> list[bool]:
    """For each node whether one of some functions is on its path."""
    found: list[bool] = []
    for node in nodes:
        is_below = node.parent != ROOT and found[node.parent]
        found.append(is_below or node.function in functions)
    return found
