"""A recording that goes on and on: its files and its memory stay as large as they are.

An hour at a sample a millisecond on two CPUs is as many samples as some minutes here.
"""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.needs import need

SECONDS = float(os.environ.get("STEELYARD_PROFILE_SECONDS", "20"))
STEELYARD = [sys.executable, "-m", "steelyard.cli.main", "profile"]
PERIOD = "50us"
FILE_BYTES, FILES_KEPT = 200 << 10, 3
# A file is closed by the first sample after its limit, and restates what is mapped.
SLACK_BYTES = 200_000

# Starts threads and processes, maps and unmaps code: whatever a sampler must remember comes anew.
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void work(long n) {
    unsigned long x = 1;
    for (long i = 0; i < n; i++) {
        x = x * 2862933555777941757UL + 1;
        __asm__ volatile("" : "+r"(x));
    }
}
static void *thread_work(void *unused) { work(100000); return unused; }
int main(int count, char **words) {
    time_t end = time(0) + (count > 1 ? atol(words[1]) : 1);
    for (unsigned round = 0; time(0) < end; round++) {
        pthread_t thread;
        pthread_create(&thread, 0, thread_work, 0);
        work(200000);
        pthread_join(thread, 0);
        /* Elsewhere and of another size each time. */
        size_t bytes = 4096 * (1 + round % 50);
        char *code = mmap(0, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (round % 10 == 0) {
            pid_t child = fork();
            if (child == 0) { work(100000); _exit(0); }
            waitpid(child, 0, 0);
        }
        munmap(code, bytes);
    }
    return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    need("gcc")
    (tmp_path / "busy.c").write_text(PROGRAM)
    words = ["gcc", "-O1", "-pthread", "busy.c", "-o", "busy"]
    subprocess.run(words, cwd=tmp_path, check=True)
    return str(tmp_path / "busy")


def sampler_of(process):
    """The sampler that a command has started."""
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return next(iter(file.read().split()), None)


def resident_bytes(process):
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("options", [(), ("--threads-only",), ("--stacks=dwarf",)])
def test_a_long_recording_has_files_and_memory_of_bounded_size(tmp_path, program, options):
    size = ("--rotate", "200k", "--keep", str(FILES_KEPT))
    words = [*STEELYARD, "record", "--period", PERIOD, *size, *options, "--", program]
    process = subprocess.Popen(
        [*words, str(int(SECONDS))], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    memory, most_bytes, most_files = [], 0, 0
    while process.poll() is None:
        files = list(tmp_path.glob("steelyard.profile*"))
        most_files = max(most_files, len(files))
        for file in files:
            try:
                most_bytes = max(most_bytes, file.stat().st_size)
            except FileNotFoundError:
                continue
        try:
            sampler = sampler_of(process.pid)
            if files and sampler:
                memory.append(resident_bytes(sampler))
        except (FileNotFoundError, ProcessLookupError, IndexError):
            continue
        time.sleep(0.1)
    _, error = process.communicate(timeout=60)
    if process.returncode == 4:
        pytest.skip(f"this machine gives no samples: {error}")
    assert process.returncode == 0, error
    # One more while the next has begun and the oldest has not gone yet.
    assert FILES_KEPT <= most_files <= FILES_KEPT + 1
    assert most_bytes < FILE_BYTES + SLACK_BYTES
    # Behind the first quarter, in which buffers grow to their size.
    later = memory[len(memory) // 4 :]
    first, second = later[: len(later) // 2], later[len(later) // 2 :]
    assert max(second) < 1.1 * max(first)
    assert max(memory) < 64_000_000
    told = subprocess.run(
        [*STEELYARD, "report", "--json", "-"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    document = json.loads(told.stdout)
    assert document["samples"] > 100
    assert any(item["name"] == "work" for item in document["functions"])
