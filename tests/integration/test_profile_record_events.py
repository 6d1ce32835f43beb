"""`steelyard profile record` of events: calls, static probes, what the kernel does."""

from __future__ import annotations

import os
import shlex
from collections import Counter

import pytest

from steelyard.profile.sampler_command import sampler_path
from tests.integration.conftest import User, validate
from tests.integration.test_profile_record_paths import built
from tests.needs import need, needs_root, needs_x86_64

pytestmark = needs_x86_64
# The notes that <sys/sdt.h> writes, with a semaphore that the kernel raises while it listens.
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline, noclone))
__attribute__((section(".probes"))) volatile unsigned short heard;
#define PROBE __asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
    ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n" \
    ".8byte probe_base\n.8byte heard\n.asciz \"app\"\n.asciz \"deep\"\n.asciz \"\"\n994:\n" \
    ".balign 4\n.popsection\n.pushsection .stapsdt.base,\"a\",@progbits\nprobe_base: .byte 0\n" \
    ".popsection\n")
volatile long sink;
FUNCTION void leaf(long n) { sink += n; if (heard) PROBE; }
FUNCTION void near(long n) { leaf(n); sink++; }
FUNCTION void far(long n) { volatile char room[2000]; room[0] = 1; leaf(n); sink += room[0]; }
FUNCTION int compare(const void* a, const void* b) { leaf(1); return *(int*)a - *(int*)b; }
FUNCTION void touch(void) {
    volatile char* all = valloc(300 << 12);
    for (int k = 0; k < 300; k++) all[k << 12] = 1;
    sink += all[0];
}
void* in_thread(void* given) { for (int k = 0; k < 400; k++) far(1); return given; }
int main(int count, char** words) {
    pthread_t thread;
    int numbers[64];
    pthread_create(&thread, 0, in_thread, 0);
    for (int i = 0; i < 64; i++) numbers[i] = i * 7919 % 64;
    for (int k = 0; k < 300; k++) near(k);
    for (int k = 0; k < 100; k++) far(k);
    qsort(numbers, 64, sizeof *numbers, compare);
    touch();
    if (fork() == 0) { for (int k = 0; k < 50; k++) near(k); _exit(0); }
    wait(0);
    pthread_join(thread, 0);
    return 0;
}
"""


@pytest.fixture
def learnt(user: User, tmp_path) -> tuple[str, str]:
    """A program, and a map of it."""
    program = built(tmp_path, "program", PROGRAM, "-fno-pie", "-no-pie", "-g")
    path_map = str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    return program, path_map


def paths_of(user: User, profile: str) -> tuple[Counter[str], dict]:
    document = user.types("profile", "report", profile, "--json", "-").document()
    validate(document)
    found = {" ".join(one["frames"]): one["samples"] for one in document["paths"]}
    return Counter(found), document


@needs_root
def test_each_call_of_a_function_has_its_path_and_the_count_is_that_of_the_program(
    user: User, tmp_path, learnt
):
    program, path_map = learnt
    profile = str(tmp_path / "profile")
    words = ("--paths", path_map, "-o", profile, "--at-call", f"{program}:leaf")
    told = user.types("profile", "record", *words, "--", "sh", "-c", shlex.quote(program))
    assert told.status == 0, told.err
    found, document = paths_of(user, profile)
    wanted = {"main near leaf": 350, "main far leaf": 100, "in_thread far leaf": 400}
    assert wanted.items() <= found.items()
    assert found["main compare leaf"] > 64
    assert document["missing"] == 0
    share = document["paths"][0]["share"]
    assert share["method"] == "counted"
    assert share["low"] == share["estimate"] == share["high"]
    told = user.types("profile", "report", profile)
    assert "each of calls of leaf" in told.out
    assert "events  samples  path" in told.out


@needs_root
def test_a_static_probe_is_switched_on_and_gives_the_path_of_each_pass(
    user: User, tmp_path, learnt
):
    program, path_map = learnt
    profile = str(tmp_path / "profile")
    words = ("--paths", path_map, "-o", profile, "--at-probe", "app:deep", "--", program)
    told = user.types("profile", "record", *words)
    assert told.status == 0, told.err
    found, document = paths_of(user, profile)
    assert found["main near leaf"] == 350
    assert document["recording"]["event"] == "probe app:deep"
    told = user.types("profile", "record", "--at-probe", "app:shallow", "--", program)
    assert told.status == 2
    assert "has no probe 'app:shallow'. It has: app:deep." in told.err


@needs_root
def test_one_call_of_so_many_is_taken_and_the_report_says_what_that_assumes(user, tmp_path, learnt):
    program, path_map = learnt
    profile = str(tmp_path / "profile")
    words = ("--paths", path_map, "-o", profile, "--at-call", "near", "--every", "7", "--", program)
    told = user.types("profile", "record", *words)
    assert told.status == 0, told.err
    found, document = paths_of(user, profile)
    # Of 300 calls and 50 in a child, each CPU counts its own.
    assert 350 // 7 - (os.cpu_count() or 1) <= found["main near"] <= 350 // 7
    assert document["warnings"][0]["code"] == "fixed-period"


def test_page_faults_are_told_by_who_may_watch_its_own_programs(user: User, tmp_path, learnt):
    program, path_map = learnt
    profile = str(tmp_path / "profile")
    words = ("--paths", path_map, "-o", profile, "--event", "page-faults", "--", program)
    told = user.types("profile", "record", *words)
    assert told.status == 0, told.err
    found, document = paths_of(user, profile)
    assert found["main touch"] >= 299
    assert document["recording"]["scope"] == "events"


def test_events_without_a_map_are_shares_of_functions(user: User, tmp_path, learnt):
    program, _ = learnt
    profile, page = str(tmp_path / "profile"), tmp_path / "page.html"
    words = ("-o", profile, "--event", "minor-faults", "--", program)
    told = user.types("profile", "record", *words)
    assert told.status == 0, told.err
    told = user.types("profile", "report", profile, "--html", str(page))
    assert "each of minor-faults" in told.out
    assert "touch" in told.out
    assert "Functions by their own events" in page.read_text("utf-8")


@needs_root
def test_the_kernel_copies_no_stack_at_a_call(user: User, tmp_path, monkeypatch, learnt):
    need("strace")
    program, path_map = learnt
    log, traced = tmp_path / "log", tmp_path / "traced"
    words = ("strace", "-f", "-v", "-o", str(log), "-e", "trace=perf_event_open,process_vm_readv")
    traced.write_text(f'#!/bin/sh\nexec {shlex.join((*words, sampler_path()))} "$@"\n')
    traced.chmod(0o755)
    monkeypatch.setitem(user.environment, "STEELYARD_SAMPLER", str(traced))
    profile = str(tmp_path / "profile")
    words = ("--paths", path_map, "-o", profile, "--at-call", "leaf", "--", program)
    assert user.types("profile", "record", *words).status == 0
    asked = [line for line in log.read_text().splitlines() if "PERF_SAMPLE_IP" in line]
    assert asked
    assert not any("STACK_USER" in line or "CALLCHAIN" in line for line in asked)
    assert "process_vm_readv" not in log.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--at-call", "nowhere"), "no function 'nowhere'"),
        (("--at-probe", "app"), "A probe is PROVIDER:NAME"),
        (("--every", "3"), "--every goes with events"),
        (("--event", "page-faults", "--period", "2ms"), "--period does not belong"),
        (("--event", "cycles", "--at-call", "leaf"), "samples by cycles"),
        (("--event", "page-faults", "--paths", "auto"), "--paths auto learns from samples by time"),
    ],
)
def test_what_cannot_be_recorded_together_is_refused_by_name(user: User, tmp_path, words, message):
    program = built(tmp_path, "program", PROGRAM)
    told = user.types("profile", "record", "-o", str(tmp_path / "p"), *words, "--", program)
    assert told.status == 2
    assert message in told.err
    assert not (tmp_path / "p").exists()


@needs_root
def test_who_may_put_no_probe_into_programs_is_told_what_is_missing(user, tmp_path, monkeypatch):
    need("setpriv")
    program, without = built(tmp_path, "program", PROGRAM), tmp_path / "without"
    drop = shlex.join(("setpriv", "--bounding-set=-all", sampler_path()))
    without.write_text(f'#!/bin/sh\nexec {drop} "$@"\n')
    without.chmod(0o755)
    monkeypatch.setitem(user.environment, "STEELYARD_SAMPLER", str(without))
    words = ("-o", str(tmp_path / "p"), "--at-call", "leaf", "--", program)
    told = user.types("profile", "record", *words)
    assert told.status == 4
    assert "CAP_PERFMON" in told.err
