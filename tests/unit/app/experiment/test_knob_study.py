"""Which setups a study of a machine has, over machines made of folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.app.experiment.knob_study import ALL, BASELINE, StudyRequest, is_study, plan_study
from steelyard.app.request.request import Request
from steelyard.core.errors import UsageError
from tests.unit.host.fake_host import FakeHost

PROGRAM = Request(commands=(("true",),), seed=1)


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    return FakeHost(tmp_path / "host")


def test_there_is_the_machine_as_it_is_all_knobs_and_each_alone(host: FakeHost) -> None:
    study = plan_study(PROGRAM, StudyRequest(("aslr", "turbo"), runs=7), host)
    assert study.setups == {
        BASELINE: "nothing",
        ALL: "aslr+turbo",
        "aslr": "aslr",
        "turbo": "turbo",
    }
    assert study.spec.stopping.runs == 7
    assert is_study(study.spec)


def test_one_knob_is_not_also_all_of_them(host: FakeHost) -> None:
    assert list(plan_study(PROGRAM, StudyRequest(("aslr",)), host).setups) == [BASELINE, "aslr"]


def test_what_changes_nothing_or_cannot_be_set_is_left_out_with_the_reason(host: FakeHost) -> None:
    host.put("/proc/sys/kernel/nmi_watchdog", "0")
    host.remove("/sys/devices/system/cpu/cpufreq")
    study = plan_study(PROGRAM, StudyRequest(), host)
    skipped = dict(study.skipped)
    assert skipped["nmi-watchdog"] == "the machine is so already"
    assert "no frequency scaling" in skipped["governor"]
    assert "only when it is named" in skipped["drop-caches"]
    assert skipped.keys().isdisjoint(study.setups)


def test_services_are_studied_where_some_are_named(host: FakeHost) -> None:
    study = plan_study(PROGRAM, StudyRequest(services=("cron",), cpus=(2,)), host)
    (level,) = study.spec.variants[list(study.setups).index("services")].host
    assert dict(level.texts) == {"cpus": "2", "services": "cron"}


def test_the_ram_disk_of_root_holds_the_files_of_the_program(host: FakeHost, tmp_path) -> None:
    study = plan_study(PROGRAM, StudyRequest(("ramdisk", "aslr")), host)
    assert study.setups["ramdisk"] == "ramfs"
    assert study.setups[ALL] == "aslr ramfs"
    other = FakeHost(tmp_path / "other", superuser=False)
    assert plan_study(PROGRAM, StudyRequest(("ramdisk",)), other).setups["ramdisk"] == "ramdisk"


def test_a_machine_on_which_nothing_can_be_changed_is_told(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "host", superuser=False)
    with pytest.raises(UsageError, match="No knob changes anything here: governor: only root"):
        plan_study(PROGRAM, StudyRequest(("governor",)), host)


def test_a_study_takes_one_program(host: FakeHost) -> None:
    two = Request(commands=(("true",), ("false",)))
    with pytest.raises(UsageError, match="one program"):
        plan_study(two, StudyRequest(), host)
