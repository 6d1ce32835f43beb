"""Programs see nothing of what moves them: no descriptor, thread, child, limit or cut call."""

from __future__ import annotations

import os
import resource
import subprocess

import pytest

from tests.integration.conftest import User
from tests.layout_programs import SOURCES, environment_with, require_layout
from tests.needs import needs_root
from tests.patience import PATIENCE_S

MOVING = "code,stack,heap"

require_layout()


@pytest.fixture
def program(user: User) -> str:
    path = str(user.home / "unseen")
    source = str(SOURCES / "unseen.c")
    told = user.types("cc", "-O2", "-pthread", source, "-o", path)
    assert told.status == 0, told.err
    return path


def look(program: str, what: str, parts: str, address_space_bytes: int = 0) -> tuple[int, str]:
    """How it ends, and what it writes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (address_space_bytes, address_space_bytes))

    variables = {"": parts, "_INTERVAL": "1ms"}
    done = subprocess.run(
        [program, what],
        env=environment_with(variables) | ({"STILL": "1"} if parts == "none" else {}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        preexec_fn=limit if address_space_bytes else None,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        pytest.param("descriptors", "0 other, moves: 1\n", id="no descriptor is taken"),
        pytest.param("only-thread", "ends\n", id="the exit of the only thread ends it"),
        pytest.param("namespaces", "0\n", id="it may leave its user namespace"),
        pytest.param("strict", "filtered\n", id="it may confine a thread to four calls"),
        pytest.param("filter", "filtered\n", id="it may filter the calls of all threads"),
        pytest.param("filter-and-fork", "1280\n", id="it may fork behind a filter"),
        pytest.param("calls", "0 interrupted\n", id="raw calls that wait are not cut short"),
        pytest.param("children", "-1 1 1\n", id="it has no child and one thread"),
        pytest.param("executes", "0\n", id="nothing is left of it behind exec"),
        pytest.param(
            "executes-by-thread", "0\n", id="nothing is left of it behind a thread's exec"
        ),
        pytest.param(
            "executes-during-moves", "0\n", id="nothing is left of it behind exec during moves"
        ),
        pytest.param(
            "executes-others", "0 1, moves: 1\n", id="no signal of its reaches what it executes"
        ),
        pytest.param("without-first", "1\n", id="it moves on without its first thread"),
        pytest.param("limits-child-of-vfork", "1\n", id="the child of a vfork limits itself alone"),
        pytest.param("killed", "4\n", id="it lives on, and forks, when what moves it is killed"),
        pytest.param("stopped", "4\n", id="it forks and ends when what moves it is stopped"),
    ],
)
def test_a_program_sees_nothing_of_what_moves_it(program: str, what: str, expected: str) -> None:
    if what == "namespaces" and look(program, what, "none")[1] != expected:
        pytest.skip("this machine lets nobody leave a user namespace")
    assert look(program, what, "none") == (0, expected)
    assert look(program, what, MOVING) == (0, expected)


def test_it_and_its_children_have_the_limit_of_the_stack_that_they_were_given(program: str) -> None:
    assert look(program, "limits", MOVING) == look(program, "limits", "none")


@pytest.mark.parametrize("mebibytes", [400, 2000])
def test_it_runs_in_a_limited_address_space(program: str, mebibytes: int) -> None:
    bytes_ = mebibytes << 20
    assert look(program, "address-space", "none", bytes_) == (0, "1 1 3\n")
    assert look(program, "address-space", MOVING, bytes_) == (0, "1 1 3\n")


def test_it_may_limit_its_own_address_space(program: str) -> None:
    assert look(program, "limits-itself", "none") == (0, "1 1000 0\n")
    assert look(program, "limits-itself", MOVING) == (0, "1 1000 0\n")


@needs_root
def test_with_more_rights_than_its_user_it_heeds_no_variable(program: str, user: User) -> None:
    report = user.home / "report.json"

    def as_user(real_uid: int) -> int:
        variables = environment_with({"": "none", "_REPORT": str(report)})
        done = subprocess.run(
            [program, "children"],
            env=variables,
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
            preexec_fn=lambda: os.setresuid(real_uid, 0, 0),
        )
        return done.returncode

    assert as_user(0) == 0
    report.unlink()
    assert as_user(65534) == 0
    assert not report.exists()


def test_locking_all_memory_does_not_fill_the_address_space_of_the_heap(program: str) -> None:
    limit_bytes = 2000 << 20  # so that a heap that is filled does no harm
    if look(program, "locks-memory", "none", limit_bytes) != (0, "1\n"):
        pytest.skip("this user may not lock its memory")
    assert look(program, "locks-memory", MOVING, limit_bytes) == (0, "1\n")


def test_it_moves_where_its_data_leave_little_room_within_reach_of_a_branch(user: User) -> None:
    source = user.home / "large.c"
    source.write_text(
        "#include <stdio.h>\n"
        "static char data[2027u << 20];\n"  # of 2 GiB, which branches reach
        "int main(void) { data[sizeof data - 1] = 7; return printf('%d\\n', data[sizeof data - 1])"
        " < 0; }\n".replace("'", '"')
    )
    path = str(user.home / "large")
    told = user.types("cc", "-O0", str(source), "-o", path)
    assert told.status == 0, told.err
    assert look(path, "", MOVING) == (0, "7\n")
