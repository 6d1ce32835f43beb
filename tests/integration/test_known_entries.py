"""Entries that come again are noted without a search: they count for the path that they came by."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.integration.test_profile_paths import named_paths
from tests.needs import needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("gcc"),
]
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink, compared;
FUNCTION void leaf(int x) { sink += x; }
FUNCTION void middle(int x) { leaf(x); sink++; }
FUNCTION void left(int x) { middle(x); sink++; }
FUNCTION void right(int x) { middle(x); sink++; sink++; }
FUNCTION void recursive(int n) { if (n > 0) recursive(n - 1); middle(n); sink++; }
FUNCTION int compare(const void* a, const void* b) {
    compared++;
    middle(1);
    return *(const int*)a - *(const int*)b;
}
FUNCTION void sorted(int* numbers, int n) { qsort(numbers, n, sizeof *numbers, compare); sink++; }
int main(int count, char** words) {
    static int numbers[500];
    for (int k = 0; k < 500; k++) numbers[k] = k * 7919 % 1009;
    for (int k = 0; k < 100; k++) {
        left(k);
        right(k);
        if (k % 3 == 0) left(k);
        recursive(k % 5);
    }
    sorted(numbers, 500);
    FILE* file = fopen(words[count - 1], "w");
    fprintf(file, "%d", compared);
    return fclose(file);
}
"""


@pytest.mark.parametrize("flags", ["-O2", "-O2 -fno-omit-frame-pointer", "-O0"])
def test_one_call_at_one_height_counts_for_each_path_that_led_to_it(flags, user, tmp_path: Path):
    (tmp_path / "program.c").write_text(PROGRAM)
    command = ["gcc", *flags.split(), "program.c", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    learn = ("profile", "paths", "learn", "-o", str(tmp_path / "map"), "--")
    told = user.types(*learn, str(tmp_path / "program"), str(tmp_path / "compared"))
    assert told.status == 0, told.err
    found = named_paths(tmp_path / "map")
    compared = int((tmp_path / "compared").read_text())
    assert compared > 1000
    for caller, times in {"left": 134, "right": 100, "sorted compare": compared}.items():
        for callee in ("middle", "middle leaf"):
            assert found[f"main {caller} {callee}"] == times
    for depth in range(5):
        levels = " ".join(["recursive"] * (depth + 1))
        times = 20 * (5 - depth)
        assert found[f"main {levels}"] == found[f"main {levels} middle leaf"] == times
