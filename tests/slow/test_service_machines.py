"""Workers in virtual machines that truly boot: before each trial, and after a kernel panic.

The machines are emulated. What is tested is that they boot when they should, that a crash is told,
and that what runs next is clean; no time means anything.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.integration.conftest import user  # noqa: F401 - a fixture
from tests.integration.test_service import sent, serving, written  # noqa: F401 - a fixture
from tests.packages import package
from tests.virtual_machine import virtual_machine, why_no_machine

# A machine that is emulated beside others takes minutes for what a laptop does in seconds.
LONGEST_S = 1500.0
WORKER = """\
export HOME={share}/home XDG_DATA_HOME={data} XDG_STATE_HOME={share}/home/state
export XDG_CACHE_HOME={share}/home/cache PYTHONDONTWRITEBYTECODE=1 STEELYARD_LOCK=/run/lock-file
export STEELYARD_SERVER={address} STEELYARD_TOKEN={token}
cat /proc/sys/kernel/random/boot_id >> {share}/boots
{command} worker --name machine --boot-command '/run/busybox reboot -f' \\
    > {share}/worker.txt 2>&1
"""

# What it leaves lies in the files of the machine alone, which a crash takes away.
PANICS = """\
test ! -e /run/left || exit 7
touch /run/left
if [ ! -e {share}/panicked ]; then
    touch {share}/panicked
    /run/busybox sync
    echo c > /proc/sysrq-trigger
    sleep 60
fi
rm /run/left
"""

# A trusted package is root on the machine's kernel. It sees the files of this host below its layer,
# so that the test says from outside when it has panicked once.
PANICKING_PACKAGE = """\
test ! -e /left || exit 7
touch /left
[ -e {share}/panicked ] || echo c > /proc/sysrq-trigger
[ -e {share}/panicked ] || exit 8
echo 'value (count)' > results.csv
echo 1 >> results.csv
"""
PACKAGE_FILE = """\
[experiment]
name = "e"
runs = 2

[[benchmark]]
package = "panicking"
package_options = {environment = "trusted", disk = "64MiB", inodes = 2000}
"""


@pytest.fixture
def share():
    """A directory that the machine and this host see under one name."""
    why = why_no_machine()
    if why:
        pytest.skip(why)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        (Path(name) / "home").mkdir()
        yield Path(name)


def worker_in(share, served, data=""):
    """A machine whose worker keeps its parts in `data`; in what is shared unless given."""
    command = shlex.join([sys.executable, "-m", "steelyard.cli.main"])
    script = WORKER.format(
        share=share,
        data=data or f"{share}/home/data",
        address=served.address,
        token=served.token,
        command=command,
    )
    return virtual_machine(share, int(served.url.port), script)


def waits(machine, share, is_so, what):
    deadline_s = time.monotonic() + LONGEST_S
    while not is_so():
        said = (share / "worker.txt").read_text() if (share / "worker.txt").exists() else ""
        assert machine.process.poll() is None, (what, said, machine.console.read_text()[-2000:])
        assert time.monotonic() < deadline_s, (what, said)
        time.sleep(0.5)


def has_ended(served, identifier):
    told = served.gets(f"api/experiments/{identifier}")
    return told["state"] not in ("queued", "running")


def enrolled(served):
    return any(each["status"] == "idle" for each in served.gets("api/workers")["workers"])


def trials_of(served, identifier):
    told = served.gets(f"api/experiments/{identifier}/trials")
    return sorted(told["trials"], key=lambda trial: trial["position"])


def test_a_machine_is_booted_before_each_trial_and_never_where_that_is_the_level(
    user,  # noqa: F811
    serving,  # noqa: F811
    share,
) -> None:
    served = serving("--no-worker")
    with worker_in(share, served) as machine:
        waits(machine, share, lambda: enrolled(served), "the machine enrols")
        look = f"sh -c 'cat /proc/sys/kernel/random/boot_id >> {share}/seen'"
        file = written(user, json.dumps(look), 1, 'factors = {reboot = ["never", "trial"]}')
        identifier = sent(user, file)["experiment"]
        waits(machine, share, lambda: has_ended(served, identifier), "the experiment ends")
        whole = served.gets(f"api/experiments/{identifier}/trials")
        assert [trial["status"] for trial in whole["trials"]] == ["ok"] * 4
        placement = whole["experiment"]["placement"]
        levels = [dict(place["levels"])["reboot"] for place in placement["workers"]]
        by_time = sorted(whole["trials"], key=lambda trial: trial["started_unix_s"])
        asked = [levels[placement["blocks"][trial["block"]]] for trial in by_time]
        seen = (share / "seen").read_text().split()
        assert len(seen) == 4
        booted = [boot for boot, level in zip(seen, asked, strict=True) if level == "trial"]
        assert len(set(booted)) == 2
        # Each of them was the first that its boot ran.
        assert [seen.index(boot) for boot in booted] == [
            place for place, level in enumerate(asked) if level == "trial"
        ]
        same = [boot for boot, level in zip(seen, asked, strict=True) if level == "never"]
        assert len(set(same)) == 1
        assert machine.boots == len((share / "boots").read_text().split()) == 3


def test_a_kernel_panic_is_told_and_the_next_trial_is_clean(
    user,  # noqa: F811
    serving,  # noqa: F811
    share,
) -> None:
    served = serving("--no-worker")
    with worker_in(share, served) as machine:
        waits(machine, share, lambda: enrolled(served), "the machine enrols")
        panics = PANICS.format(share=share)
        file = written(user, json.dumps(["sh", "-c", panics]), 1)
        identifier = sent(user, file)["experiment"]
        waits(machine, share, lambda: has_ended(served, identifier), "the experiment ends")
        assert [trial["status"] for trial in trials_of(served, identifier)] == ["ok", "ok"]
        assert (machine.panics, machine.boots) == (1, 2)
        page = served.asks("GET", f"service/{identifier}")[1]
        assert "its host crashed or lost power while the block ran" in page


def test_a_package_that_panics_the_kernel_is_told_and_the_next_trial_is_clean(
    user,  # noqa: F811
    serving,  # noqa: F811
    share,
) -> None:
    served = serving("--no-worker")
    with worker_in(share, served, "/mnt/data") as machine:
        waits(machine, share, lambda: enrolled(served), "the machine enrols")
        package(user.home / "panicking", run=PANICKING_PACKAGE.format(share=share))
        (user.home / "e.toml").write_text(PACKAGE_FILE)
        identifier = sent(user, str(user.home / "e.toml"))["experiment"]
        waits(machine, share, lambda: machine.panics, "the package panics the kernel")
        (share / "panicked").touch()
        waits(machine, share, lambda: has_ended(served, identifier), "the experiment ends")
        trials = trials_of(served, identifier)
        assert [(trial["status"], trial["reason"]) for trial in trials] == [("ok", None)] * 2
        assert (machine.panics, machine.boots) == (1, 2)
        page = served.asks("GET", f"service/{identifier}")[1]
        assert "its host crashed or lost power while the block ran" in page
