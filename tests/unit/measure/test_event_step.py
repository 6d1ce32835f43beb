# ruff: noqa: E501
"""What a trace and a log say of the events of one program."""

from __future__ import annotations

from steelyard.measure.event_step import Reader, log_names, reduced

TRACE = """\
# tracer: nop
#
# entries-in-buffer/entries-written: 100/140   #P:2
#
        launcher-10      [000] ....1  5.000001: sched_process_fork: comm=launcher pid=10 child_comm=launcher child_pid=20
            prog-20      [000] ....1  5.000002: sched_process_exec: filename=/bin/prog pid=20 old_pid=20
            prog-20      [000] ....1  5.000003: sys_openat(dfd: 0xffffff9c, filename: 0x7f, flags: 0x80000, mode: 0x0)
            prog-20      [000] d...1  5.000004: page_fault_user: address=0x7f ip=0x7f error_code=0x4
            prog-20      [000] ....1  5.000005: sched_process_fork: comm=prog pid=20 child_comm=prog child_pid=21
 some - name-21      [001] d..2.  5.000006: sched_switch: prev_comm=some - name prev_pid=21 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
          <idle>-0       [001] dNh4.  5.000007: sched_wakeup: comm=some - name pid=21 prio=120 target_cpu=001
          <idle>-0       [001] dNh4.  5.000007: sched_wakeup: comm=other pid=99 prio=120 target_cpu=001
            prog-21      [001] d..2.  5.000008: sched_switch: prev_comm=prog prev_pid=21 prev_prio=120 prev_state=R+ ==> next_comm=x next_pid=9 next_prio=120
           other-99      [001] .....  5.000009: sys_futex(uaddr: 0x7f)
            prog-20      [000] .....  5.000010: probe_1: (0x5555)
            prog-21      [001] .....  5.000011: sched_process_exit: comm=prog pid=21 prio=120
            prog-21      [001] d..2.  5.000011: sched_switch: prev_comm=prog prev_pid=21 prev_prio=120 prev_state=X ==> next_comm=x next_pid=9 next_prio=120
            prog-20      [000] .....  5.000012: sched_process_exit: comm=prog pid=20 prio=120
            prog-20      [000] .....  5.000013: sys_close(fd: 0x1)
"""


def test_only_events_of_the_program_and_what_it_starts_count() -> None:
    reader = Reader(["function f", "function g"])
    assert list(reader.names(TRACE.splitlines())) == [
        "syscall openat",
        "page fault",
        "thread or process created",
        "waits",
        "woken",
        "preempted",
        "function g",
        "thread or process ended",
        "thread or process ended",
    ]


def test_what_the_buffer_could_not_hold_is_told() -> None:
    reader = Reader(["function f", "function g"])
    list(reader.names(TRACE.splitlines()))
    assert reader.lost == 40


def test_all_events_are_counted_but_only_the_first_keep_their_order() -> None:
    assert reduced(["a", "b", "a", "c"], most=3) == {
        "kinds": ["a", "b", "c"],
        "counts": [2, 1, 1],
        "order": [0, 1, 0],
        "lost": 0,
    }


def test_a_log_is_read_by_an_expression_or_as_json() -> None:
    lines = ["[1] gc start", "nothing", "[2] gc end"]
    assert list(log_names(lines, r"gc (\w+)")) == ["log start", "log end"]
    assert list(log_names(lines, r"gc")) == ["log gc", "log gc"]
    objects = ['{"event": {"kind": "gc"}}', "torn {", '{"event": 3}', '{"event": {"kind": "jit"}}']
    assert list(log_names(objects, "json:event.kind")) == ["log gc", "log jit"]
