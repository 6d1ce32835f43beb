"""Commands that Steelyard starts itself stop their parent: Steelyard goes on, and ends by a signal.

The parent of each is a go-between, which is woken; `kill -STOP` comes back at once in each script.
"""

from __future__ import annotations

import json
import signal

import pytest

from tests.patience import PATIENCE_S

STOP = "kill -STOP $PPID\n"
WAITING = "touch waiting; exec sleep 1000"


def test_a_set_up_that_stops_its_parent_does_not_stop_the_measurement(user, script):
    told = user.types("measure", "--runs", "2", "--setup", script(STOP), "--", "true")
    assert told.status == 0, told.err


def test_a_command_of_a_level_that_stops_its_parent_does_not_stop_the_measurement(user, script):
    given = ("--level", f"boot={script(STOP)}", "--repeat", "boot=2")
    told = user.types("measure", *given, "--", "true")
    assert told.status == 0, told.err


def test_a_command_on_a_quiet_host_that_stops_its_parent_ends_as_itself(user, script, alone):
    told = user.types("host", "quiet", "--knob", "aslr", "--", script(STOP + "exit 7"))
    assert told.status == 7, told.err


def test_a_build_that_stops_its_parent_does_not_stop_the_measurement(user, script):
    program = script("true", "built")
    build = script(STOP + f"cp {program} program")
    given = ("--build", build, "--runs", "2", "--", "{build}/program")
    told = user.types("measure", *given)
    assert told.status == 0, told.err


def _waits(user, *arguments):
    process = user.start(*arguments)
    while not (user.home / "waiting").exists():
        assert process.poll() is None
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_one_signal_ends_a_measurement_whose_set_up_stopped_its_parent(user, script, number):
    program = script(STOP + WAITING)
    process = _waits(user, "measure", "--runs", "2", "--setup", program, "--", "true")
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130


def test_one_signal_ends_a_level_that_stopped_its_parent_and_keeps_what_was_measured(user, script):
    command = script(f'[ "$STEELYARD_REPETITION" = 0 ] && exit 0\n{STOP}{WAITING}')
    given = ("--level", f"boot={command}", "--repeat", "boot=2")
    process = _waits(user, "measure", *given, "--", "true")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (3, 130)
    shown = json.loads(user.types("show", "--json", "-").out)
    assert shown["variants"][0]["trials"] > 0


def test_one_signal_ends_a_command_on_a_quiet_host_that_stopped_its_parent(user, script, alone):
    command = script(STOP + WAITING)
    process = _waits(user, "host", "quiet", "--knob", "aslr", "--", command)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + signal.SIGTERM
