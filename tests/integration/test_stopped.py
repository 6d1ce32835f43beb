"""Programs that stop what watches them: Steelyard ends or goes on, and loses nothing."""

from __future__ import annotations

import json
import signal

import pytest

from tests.integration.killing import waiting_in
from tests.patience import PATIENCE_S

STOP = "kill -STOP $PPID\n"


def test_a_program_that_stops_the_launcher_ends_the_measurement_and_its_trials_are_kept(
    user, script
):
    program = script("echo . >> runs\n" + f'[ "$(wc -l < runs)" = 3 ] && {STOP}true')
    told = user.types("measure", "--runs", "5", "--", program)
    assert told.status == 3
    assert "launcher was stopped (SIGSTOP)" in told.err
    shown = json.loads(user.types("show", "--json", "-").out)
    assert shown["variants"][0]["trials"] == 2
    assert user.types("resume", "latest", "--runs", "5").status == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_one_signal_ends_a_measurement_whose_launcher_was_stopped(user, script, number):
    program = script("echo . >> runs\n" + STOP + "touch waiting; exec sleep 1000")
    process = user.start("measure", "--runs", "5", "--", program)
    while not (user.home / "waiting").exists():
        assert process.poll() is None
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (130, 3)


def test_one_signal_ends_a_recording_whose_sampler_was_stopped(user, script):
    program = script(STOP + waiting_in(1))
    process = user.start("profile", "record", "-o", "profile", "--", program)
    while not (user.home / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)


def test_a_recording_goes_on_whose_sampler_was_stopped(user, script):
    program = script(STOP + "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    told = user.types("profile", "record", "-o", "profile", "--", program)
    assert told.status == 0, told.err
    assert json.loads(user.types("profile", "report", "profile", "--json", "-").out)["samples"] > 0
