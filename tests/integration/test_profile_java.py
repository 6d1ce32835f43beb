"""Profiles of Java virtual machines, on programs whose hot methods are known."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from steelyard.profile.java_command import AGENT

EXAMPLE = Path(__file__).parents[2] / "examples" / "profile" / "YieldPoints.java"


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """The folder with the compiled example."""
    if shutil.which("javac") is None or shutil.which("java") is None:
        pytest.skip("no JDK here")
    if not os.path.exists(AGENT):
        pytest.skip("the agent for Java is not built")
    folder = tmp_path_factory.mktemp("classes")
    subprocess.run(["javac", "-d", str(folder), str(EXAMPLE)], check=True)
    return str(folder)


def java(classes, *words):
    return ("java", "-XX:TieredStopAtLevel=4", "-Xshare:auto", "-cp", classes, *words)


def shares(user, *words):
    document = user.types("profile", "report", *words, "--json", "-").document()
    return {item["name"]: item for item in document["functions"]}


def recorded(user, *words):
    told = user.types("profile", "record", *words)
    if told.status == 4:
        pytest.skip(f"this machine gives no samples: {told.err}")
    assert told.status == 0, told.err
    return told


def test_an_inlined_method_gets_its_time_and_not_the_one_that_it_was_inlined_into(user, classes):
    recorded(user, "--period", "500us", "--", *java(classes, "YieldPoints", "150"))
    found = shares(user)
    hot = found["YieldPoints.hot"]
    assert hot["share"]["estimate"] > 0.4
    assert hot["inlined_ratio"] > 0.5
    assert found.get("YieldPoints.cold", {"samples": 0})["samples"] < hot["samples"] / 2


def test_an_interpreted_method_is_named(user, classes):
    recorded(user, "--period", "500us", "--", *java(classes, "-Xint", "YieldPoints", "3"))
    found = shares(user)
    if "YieldPoints.hot" not in found and "[interpreted]" in found:
        pytest.skip("the frames of this virtual machine's interpreter are not known")
    assert found["YieldPoints.hot"]["share"]["estimate"] > 0.4
    assert found["YieldPoints.hot"]["inlined_ratio"] == 0


def test_a_script_that_starts_java_is_mapped_on_request(user, classes, script):
    starter = script('exec java -cp "$1" YieldPoints 100\n', "start")
    recorded(user, "--java", "--period", "500us", "--", starter, classes)
    assert "YieldPoints.hot" in shares(user)


def test_a_java_that_runs_already_takes_the_agent(user, classes):
    if shutil.which("jcmd") is None:
        pytest.skip("no jcmd here")
    command = java(classes, "YieldPoints", "2000")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        # The main thread is in Java once the machine has made its file for such tools.
        started = Path(f"/tmp/hsperfdata_{os.environ.get('USER', 'root')}") / str(process.pid)
        deadline = time.monotonic() + 20
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        told = user.types("profile", "record", "--duration", "2s", "--pid", str(process.pid))
        process.kill()
    if told.status == 4:
        pytest.skip(f"this machine gives no samples: {told.err}")
    assert told.status == 0, told.err
    # A machine that was started without DebugNonSafepoints gives inlined code to the caller.
    named = [
        item["share"]["estimate"]
        for name, item in shares(user).items()
        if name in {"YieldPoints.hot", "YieldPoints.cold"}
    ]
    assert sum(named) > 0.5


def test_maps_of_an_earlier_recording_are_removed_and_a_damaged_one_is_one_clear_error(
    user, classes
):
    (user.home / "steelyard.profile.java-1").write_text("old")
    recorded(user, "--", *java(classes, "YieldPoints", "1"))
    (left,) = user.home.glob("steelyard.profile.java-*")
    assert left.name != "steelyard.profile.java-1"
    left.write_text("nonsense")
    told = user.types("profile", "report")
    assert told.status == 2
    assert "is not a code map" in told.err
    assert told.err.count("\n") == 1


def test_a_delayed_method_is_noticed_by_the_sampler_for_java(user, classes):
    told = user.types(
        *("profile", "check", "--function", "YieldPoints.hot", "--amounts", "2", "--runs", "2"),
        *("--json", "-", "--", *java(classes, "YieldPoints", "40")),
    )
    if told.status == 4:
        pytest.skip(f"this machine gives no samples: {told.err}")
    assert told.status == 0, told.err
    (slope,) = told.document()["slopes"]
    assert (slope["function"], slope["profiler"]) == ("YieldPoints.hot", "steelyard-jvm")
    assert slope["runs"] == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--function", "YieldPoints.none"), "'YieldPoints.none' cannot be delayed"),
        (("--delay", "memory"), "Java can be delayed by computing alone"),
        (("--profiler", "cprofile"), "only native ones and those for Java"),
    ],
)
def test_what_cannot_be_delayed_in_java_is_one_clear_error(user, classes, options, message):
    told = user.types("profile", "check", *options, "--", *java(classes, "YieldPoints", "1"))
    if told.status == 4:
        pytest.skip(f"this machine gives no samples: {told.err}")
    assert told.status == 2
    assert message in told.err
    assert told.err.splitlines()[-1].startswith("steelyard: error: ")


def test_a_profiler_of_java_refuses_other_programs(user, script):
    told = user.types("profile", "check", "--profiler", "safepoint", "--", script("exit 0"))
    if told.status == 4:
        pytest.skip(told.err)
    assert told.status == 2
    assert "is not Java" in told.err
