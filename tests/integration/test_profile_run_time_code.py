"""Code that a program makes at run time, and the maps that name it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import User
from tests.integration.profiling import sampled
from tests.needs import need, need_x86_64
from tests.patience import line_of

MAKING = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    static const unsigned char endless[] = {0xeb, 0xfe}; /* jmp to itself */
    char path[64];
    void *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, endless, sizeof endless);
    sprintf(path, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx 10 made_at_run_time\n", (unsigned long)code);
    fclose(map);
    puts("runs");
    fflush(stdout);
    ((void (*)(void))code)();
}
"""
# It has a folder for maps of its own, and is its namespace's first process.
APART = ("unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c")


@contextmanager
def running_apart(folder: Path) -> Iterator[int]:
    """The program in namespaces of its own, by its number outside of them."""
    script = "mount --bind maps /tmp && exec ./making"
    with subprocess.Popen([*APART, script], cwd=folder, stdout=subprocess.PIPE) as around:
        try:
            if line_of(around) != b"runs\n":
                pytest.skip("this user may make no namespaces")
            children = Path(f"/proc/{around.pid}/task/{around.pid}/children").read_text()
            yield int(children)
        finally:
            around.kill()


def hottest(user: User) -> dict[str, Any]:
    """The function with most samples."""
    return user.types("profile", "report", "--json", "-").document()["functions"][0]


def test_code_made_in_a_container_is_named_by_the_map_that_is_there(user: User) -> None:
    need("gcc", "unshare", "mount")
    need_x86_64()
    (user.home / "making.c").write_text(MAKING)
    subprocess.run(["gcc", "making.c", "-o", "making"], cwd=user.home, check=True)
    (user.home / "maps").mkdir()
    with running_apart(user.home) as process:
        # Of another process that was called so here, and had code everywhere.
        stranger = Path(f"/tmp/perf-{process}.map")
        stranger.write_text("1000 7fffffffe000 never_ran\n")
        try:
            sampled(user, "record", "--pid", str(process), "--duration", "300ms")
            assert hottest(user)["name"] == "made_at_run_time"
            # A link in the container would be followed to files that are not in it.
            (user.home / "maps" / "perf-1.map").unlink()
            (user.home / "maps" / "perf-1.map").symlink_to(stranger)
            assert hottest(user)["name"] not in {"never_ran", "made_at_run_time"}
        finally:
            stranger.unlink()
