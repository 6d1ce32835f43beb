"""The shuffled heap: how much memory it takes, and what a base with the objects of a page in order
gives.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integration.conftest import User
from tests.layout_programs import require_layout, run

require_layout()

Build = Callable[[str], str]

RESIDENT = """
    static long resident_kib(void) {
        long pages = 0, resident = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (fscanf(file, "%ld %ld", &pages, &resident) != 2) return -1;
        fclose(file);
        return resident * 4;
    }
"""
FEW_OBJECTS = """
    int main(void) {
        for (int size = 16; size <= 32768; size += size < 128 ? 16 : size / 4)
            for (int turn = 0; turn < 4; ++turn)
                memset(malloc(size), 1, 16);
        printf("%ld\\n", resident_kib());
        return 0;
    }
"""
LARGE_IN_TURN = """
    static void *volatile kept;
    int main(void) {
        for (int size = 1200; size <= 32768; size += size / 4)
            for (int turn = 0; turn < 600; ++turn) {
                kept = malloc(size);
                memset(kept, 1, size);
                free(kept);
            }
        printf("%ld\\n", resident_kib());
        return 0;
    }
"""
ALIGNED_AMONG_LARGE = """
    int main(void) {
        int wrong = 0;
        for (int size = 1100; size <= 32768; size += size / 8) {
            for (int turn = 0; turn < 40; ++turn)  /* chunks of many lengths */
                memset(malloc(size), 1, size);
            for (size_t alignment = 16; alignment <= 65536; alignment *= 2)
                for (int turn = 0; turn < 40; ++turn)
                    wrong += (uintptr_t)aligned_alloc(alignment, alignment) % alignment != 0;
        }
        printf("%d\\n", wrong);
        return 0;
    }
"""
NEIGHBOURS = """
    int main(void) {
        int steps = 0, same_page = 0, jumps = 0;
        for (int turn = 0; turn < 3000; ++turn)  /* the first window */
            malloc(96);
        char *last = malloc(96);
        for (int turn = 0; turn < 4000; ++turn) {
            char *next = malloc(96);
            const int together = (uintptr_t)next / 4096 == (uintptr_t)last / 4096;
            same_page += together;
            steps += together && next > last;
            jumps += !together && (uintptr_t)next / 4096 != (uintptr_t)last / 4096 + 1;
            last = next;
        }
        printf("%d %d %d\\n", same_page, steps, jumps);
        return 0;
    }
"""

TURNOVER = """
    int main(void) {
        static char *live[500];
        int same_page = 0;
        for (int turn = 0; turn < 20000; ++turn) {
            char **place = &live[turn % 500], *last = live[(turn + 499) % 500];
            free(*place);
            *place = malloc(96);
            if (turn >= 10000)  /* a window that was built from is given to its end */
                same_page += (uintptr_t)*place / 4096 == (uintptr_t)last / 4096;
        }
        printf("%d\\n", same_page);
        return 0;
    }
"""

BUFFERS = """
    int main(void) {
        for (int turn = 0; turn < 40; ++turn) {
            const size_t size = 1000000 + turn * 150000;
            char *buffer = malloc(size);
            memset(buffer, 1, size);
            free(buffer);
        }
        printf("%ld\\n", resident_kib());
        return 0;
    }
"""
PHASES = """
    static void *kept[60000];
    int main(void) {
        for (int size = 200; size <= 1000; size += 160) {
            const int many = 8000000 / size;
            for (int at = 0; at < many; ++at)
                memset(kept[at] = malloc(size), 1, size);
            for (int at = 0; at < many; ++at)
                free(kept[at]);
        }
        printf("%ld\\n", resident_kib());
        return 0;
    }
"""
LARGE_AGAIN = """
    static void *kept[96];
    int main(void) {
        for (int turn = 0; turn < 40; ++turn) {
            for (int at = 0; at < 96; ++at) {
                const size_t size = 40000 + at / 16 * 16000;
                memset(kept[at] = malloc(size), 1, size);
            }
            for (int at = 0; at < 96; ++at)
                free(kept[at]);
        }
        printf("%ld\\n", resident_kib());
        return 0;
    }
"""


@pytest.fixture
def build(user: User) -> Build:
    """Compiles C and gives the program's path."""

    def compile_(code: str) -> str:
        source = user.home / "heap.c"
        names = ("stdint", "stdio", "stdlib", "string")
        source.write_text("".join(f"#include <{name}.h>\n" for name in names) + code)
        program = str(user.home / "heap")
        told = user.types("cc", "-O0", str(source), "-o", program)
        assert told.status == 0, told.err
        return program

    return compile_


def test_a_few_objects_of_every_size_take_little_memory(build: Build) -> None:
    program = build(RESIDENT + FEW_OBJECTS)
    plain_kib = int(run(program, **{"": "none"}).stdout)
    shuffled_kib = int(run(program, **{"": "heap"}).stdout)
    assert shuffled_kib - plain_kib < 4096


def test_a_large_object_at_a_time_takes_few_pages_however_often(build: Build) -> None:
    program = build(RESIDENT + LARGE_IN_TURN)
    plain_kib = int(run(program, **{"": "none"}).stdout)
    shuffled_kib = int(run(program, **{"": "heap"}).stdout)
    # 2 MiB are the first huge page; 8 to 16 objects of each of 16 sizes are less than 2 MiB.
    assert shuffled_kib - plain_kib < 6144


def test_what_asks_for_an_alignment_has_it_wherever_chunks_of_other_sizes_end(build: Build) -> None:
    assert run(build(ALIGNED_AMONG_LARGE), **{"": "heap"}).stdout == "0\n"


def test_what_a_program_builds_lies_in_the_order_of_its_making_within_each_page(
    build: Build,
) -> None:
    program = build(NEIGHBOURS)
    same_page, steps, jumps = map(int, run(program, **{"": "heap"}).stdout.split())
    # A page begins with any of its objects, and goes on with its lowest behind its last.
    assert same_page > 3500
    assert steps > 0.9 * same_page
    assert jumps > 80


def test_freed_buffers_of_many_sizes_do_not_add_up(build: Build) -> None:
    program = build(RESIDENT + BUFFERS)
    # Of 1 to 6.7 MiB one lives at a time; 16 MiB is twice the largest, and what a heap takes.
    assert int(run(program, **{"": "heap"}).stdout) < 16384


def test_what_one_size_has_emptied_serves_another(build: Build) -> None:
    program = build(RESIDENT + PHASES)
    # Of each of six sizes 8 MB live, one size after the other.
    assert int(run(program, **{"": "heap"}).stdout) < 24_000


def test_large_objects_that_come_again_touch_the_pages_that_they_had(build: Build) -> None:
    program = build(RESIDENT + LARGE_AGAIN)
    plain_kib = int(run(program, **{"": "none"}).stdout)
    # 7.7 MB live at most, of which glibc's heap keeps none at the end.
    assert int(run(program, **{"": "heap"}).stdout) - plain_kib < 12_000


def test_what_comes_and_goes_lies_all_over_its_window(build: Build) -> None:
    same_page = int(run(build(TURNOVER), **{"": "heap"}).stdout)
    assert same_page < 1000  # of 10,000; a window has 64 pages


def test_a_base_of_pages_gives_the_objects_of_a_page_in_order_and_pages_in_none(
    build: Build,
) -> None:
    program = build(NEIGHBOURS)
    same_page, steps, jumps = map(int, run(program, _BASE="pages", **{"": "heap"}).stdout.split())
    assert steps == same_page > 3500
    assert jumps > 60  # of some 96 pages
    same_page, steps, _ = map(int, run(program, _BASE="own", **{"": "heap"}).stdout.split())
    assert steps < same_page > 3500  # each page begins where it was drawn
