"""What every setting keeps, over machines made of folders."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.errors import HostError, MissingCapabilityError
from steelyard.core.experiment_spec import HostLevel, LaunchSpec
from steelyard.host.host_journal import HostJournal
from steelyard.host.machine_levels import HostLevels, check_levels
from steelyard.host.properties import SETTINGS
from steelyard.host.restore import restore_host
from steelyard.host.setting import Asked, Setting
from tests.unit.host.fake_host import FakeHost, snapshot

# Levels that the machine of the tests can have, other than what it has.
LEVELS = {
    "autogroup": "off",
    "background-load": "cpu:2",
    "command": "other",
    "filesystem": "ext4",
    "frequency-limit": "2000",
    "governor": "performance",
    "knobs": "autogroup+turbo",
    "page-cache": "empty",
    "reboot": "off",
    "swap": "off",
    "transparent-hugepages": "always",
}
# What the machine has, and what it can never have.
AS_IT_IS = {"autogroup": "on", "swap": "on", "filesystem": "as-is", "knobs": "none"}
REFUSED = {
    "governor": ("warp", "powersave, performance"),
    "frequency-limit": ("9000", "800 to 3000 MHz"),
    "filesystem": ("zfs", "this kernel has no zfs"),
    "reboot": ("on", "cluster"),
    "knobs": ("cpu-shield+services", "the knob services cannot be set"),
}
TEXTS = {"command": (("set", "set {level}"), ("get", "get"))}
LAUNCH = LaunchSpec(("true",))
settings = pytest.mark.parametrize("name", SETTINGS.names())
changing = pytest.mark.parametrize(
    "name", [s.name for s in SETTINGS if not s.each_trial and s.name != "reboot"]
)


class Killed(BaseException):
    """The process is gone: nothing after this runs."""


class Machine(FakeHost):
    """With frequencies, loads, loop devices and a value that commands set; may die at a change."""

    changes_left = -1

    def __init__(self, root: Path, **options: Any) -> None:
        super().__init__(root, **options)
        cpu = "/sys/devices/system/cpu/cpufreq"
        for policy in ("policy0", "policy2"):
            self.put(f"{cpu}/{policy}/scaling_available_governors", "powersave performance")
            self.put(f"{cpu}/{policy}/cpuinfo_min_freq", "800000")
            self.put(f"{cpu}/{policy}/cpuinfo_max_freq", "3000000")
            self.put(f"{cpu}/{policy}/scaling_max_freq", "3000000")
        self.put("/proc/filesystems", "nodev\ttmpfs\n\text4\n")
        self.put("/dev/loop-control", "")
        self.put("/value", "first")
        for folder in ("/var/tmp", "/run"):
            Path(self.root + folder).mkdir(parents=True, exist_ok=True)
        self.loads: list[str] = []

    def live(self) -> None:
        if self.changes_left == 0:
            raise Killed
        self.changes_left -= 1

    def write(self, path: str, text: str) -> None:
        self.live()
        super().write(path, text)

    def swap_off(self, path: str) -> None:
        self.live()
        super().swap_off(path)

    def make_directory(self, path: str, mode: int = 0o755) -> None:
        self.live()
        super().make_directory(path, mode)

    def make_sparse_file(self, path: str, size_bytes: int) -> None:
        self.live()
        super().make_sparse_file(path, size_bytes)

    def start_marked(self, argv: Any, mark: str, *, announces: bool) -> bool:
        self.live()
        self.loads.append(mark)
        return True

    def marked(self, mark: str) -> list[int]:
        return [1000 + index for index, load in enumerate(self.loads) if load == mark]

    def end_marked(self, mark: str) -> None:
        self.loads = [load for load in self.loads if load != mark]

    def run(self, argv: Sequence[str], timeout_s: float = 60.0) -> tuple[int, str]:
        if argv[0] == "/bin/sh":
            if argv[2] == "get":
                return 0, self.read("/value") or ""
            self.live()
            self.put("/value", argv[2].split()[1])
            return 0, ""
        if argv[0].endswith("/mount"):
            self.live()
            self.mount(argv[2], argv[-1], "loop")
            return 0, ""
        if "mkfs." in argv[0]:
            return 0, ""
        return super().run(argv, timeout_s)


def state(host: Machine) -> object:
    host.put("/proc/sys/vm/drop_caches", "0")
    return snapshot(host), list(host.loads)


def level_of(name: str, level: str | None = None) -> HostLevel:
    return HostLevel("column", name, LEVELS[name] if level is None else level, TEXTS.get(name, ()))


def asked(name: str, level: str | None = None) -> Asked:
    found = level_of(name, level)
    return Asked(found.level, LAUNCH, dict(found.texts), "test")


@pytest.fixture
def journal(tmp_path: Path) -> str:
    return str(tmp_path / "journal")


@pytest.fixture
def host(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "host")


@pytest.fixture
def levels(journal: str, host: Machine) -> HostLevels:
    return HostLevels(HostJournal(journal), host=host)


@settings
def test_a_level_that_the_machine_can_have_is_realised_and_told(
    name: str, host: Machine, levels: HostLevels
) -> None:
    check_levels([level_of(name)], LAUNCH, host)
    before = state(host)
    found = levels.bring_about([level_of(name)], LAUNCH)
    assert found.realised["column"].startswith(LEVELS[name])
    if name not in ("reboot", "page-cache"):
        assert state(host) != before


@settings
def test_states_are_json_values_that_stay_what_they_are(name: str, host: Machine) -> None:
    setting = SETTINGS.get(name)
    read = setting.read(host, asked(name))
    wanted = setting.wanted(host, asked(name), read)
    assert json.loads(json.dumps([read, wanted])) == [read, wanted]


@changing
def test_the_machine_is_as_it_was_when_no_trial_asks_any_more(
    name: str, host: Machine, levels: HostLevels, journal: str
) -> None:
    before = state(host)
    levels.bring_about([level_of(name)], LAUNCH)
    levels.bring_about([], LAUNCH)
    assert state(host) == before
    assert HostJournal(journal).pending == ()


@changing
def test_a_kill_at_any_change_is_undone_by_a_later_restore(
    name: str, host: Machine, journal: str
) -> None:
    before = state(host)
    deaths = 0
    for changes in range(20):
        host.changes_left = changes
        try:
            HostLevels(HostJournal(journal), host=host).bring_about([level_of(name)], LAUNCH)
            finished = True
        except Killed:
            deaths += 1
            finished = False
        host.changes_left = -1
        assert restore_host(journal, host).failures == ()
        assert state(host) == before
        if finished:
            break
    assert deaths
    assert finished


@changing
def test_restoring_twice_changes_nothing_more(name: str, host: Machine) -> None:
    setting: Setting = SETTINGS.get(name)
    before = state(host)
    read = setting.read(host, asked(name))
    wanted = setting.wanted(host, asked(name), read)
    setting.apply(host, wanted)
    setting.restore(host, read, wanted)
    setting.restore(host, read, wanted)
    assert state(host) == before


@pytest.mark.parametrize("name", sorted(AS_IT_IS))
def test_the_level_that_the_machine_has_changes_nothing(
    name: str, host: Machine, levels: HostLevels
) -> None:
    before = state(host)
    found = levels.bring_about([level_of(name, AS_IT_IS[name])], LAUNCH)
    assert found.realised["column"].startswith(AS_IT_IS[name])
    assert state(host) == before


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_the_machine_cannot_have_is_refused_by_name(name: str, host: Machine) -> None:
    level, reason = REFUSED[name]
    with pytest.raises(MissingCapabilityError, match="The factor column cannot") as caught:
        check_levels([level_of(name, level)], LAUNCH, host)
    assert reason in caught.value.message


@settings
def test_without_root_a_level_can_be_had_or_says_why_not(name: str, tmp_path: Path) -> None:
    host = Machine(tmp_path / "host", superuser=False)
    reason = SETTINGS.get(name).unavailable(host, asked(name))
    assert reason is None or len(reason.split()) >= 3
    assert (reason is None) == (name in ("background-load", "command", "reboot"))


def test_a_machine_that_shows_nothing_refuses_in_words(tmp_path: Path) -> None:
    host = Machine(tmp_path / "host", cgroup=0)
    for path in ("/sys", "/proc/sys", "/proc/swaps", "/proc/filesystems"):
        host.remove(path)
    refused = {n for n in SETTINGS.names() if SETTINGS.get(n).unavailable(host, asked(n))}
    assert refused == set(SETTINGS.names()) - {"background-load", "command", "reboot"}


def test_only_what_differs_from_the_trial_before_is_changed(
    host: Machine, levels: HostLevels
) -> None:
    both = [level_of("governor"), level_of("command")]
    levels.bring_about(both, LAUNCH)
    host.changes_left = 0
    levels.bring_about(both, LAUNCH)
    host.changes_left = 1  # The value goes back to what it was: nothing else.
    levels.bring_about(both[:1], LAUNCH)
    assert host.read("/value") == "first"


def test_a_level_is_set_from_the_state_that_the_machine_was_found_in(
    host: Machine, levels: HostLevels, journal: str
) -> None:
    for level in ("second", "third"):
        levels.bring_about([level_of("command", level)], LAUNCH)
    assert host.read("/value") == "third"
    assert restore_host(journal, host).knobs == ("setting:command",)
    assert host.read("/value") == "first"


def test_a_level_that_the_kernel_does_not_take_is_an_error_that_names_it_and_leaves_no_change(
    host: Machine, levels: HostLevels, journal: str
) -> None:
    before = state(host)
    path = "/sys/devices/system/cpu/cpufreq/policy2/scaling_governor"
    host.stubborn.add(path)
    with pytest.raises(HostError, match=f"governor = performance: {path} is"):
        levels.bring_about([level_of("governor")], LAUNCH)
    assert state(host) == before
    assert HostJournal(journal).pending == ()


def test_a_command_that_only_undoes_is_put_back_by_that(host: Machine, levels: HostLevels) -> None:
    texts = (("set", "set {level}"), ("undo", "undo first"))
    found = levels.bring_about([HostLevel("mine", "command", "other", texts)], LAUNCH)
    assert found.realised == {"mine": "other"}
    assert host.read("/value") == "other"
    levels.bring_about([], LAUNCH)
    assert host.read("/value") == "first"


def test_files_are_dropped_and_read_anew_before_every_trial(
    tmp_path: Path, levels_here: Callable[[], HostLevels]
) -> None:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(1 << 20))
    launch = LaunchSpec(("cat", str(data)))
    asks = [HostLevel("cache", "page-cache", level) for level in ("warm", "cold")]
    found = levels_here()
    assert "100 % of" in found.bring_about(asks[:1], launch).realised["cache"]
    # The program itself may be mapped by others; the file is not. Memory file systems keep theirs.
    cold = found.bring_about(asks[1:], launch).realised["cache"]
    assert cold.startswith("cold: ")
    if not _in_memory(tmp_path):
        assert "100 %" not in cold


def _in_memory(path: Path) -> bool:
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    inside = [m for m in mounts if path.is_relative_to(m[1])]
    # In a changed root its own file system is not listed.
    kind = max(inside, key=lambda m: len(m[1]))[2] if inside else "overlay"
    return kind in ("tmpfs", "ramfs", "overlay")


@pytest.fixture
def levels_here(journal: str) -> Callable[[], HostLevels]:
    return lambda: HostLevels(HostJournal(journal))
