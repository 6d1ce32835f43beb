"""Profiles of Java virtual machines, on programs whose hot methods are known."""

import subprocess
from pathlib import Path

import pytest

from tests.integration.profiling import sampled, samples_of
from tests.needs import need, need_java
from tests.patience import PATIENCE_S, line_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "profile"
ENDLESS = """
public final class Endless {
    public static void main(String[] words) {
        for (int i = 0; i < 50; i++) YieldPoints.cold(1_000_000);
        System.out.println("here");
        while (true) YieldPoints.cold(1_000_000);
    }
}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """The folder with the compiled examples."""
    need_java()
    folder = tmp_path_factory.mktemp("classes")
    (folder / "Endless.java").write_text(ENDLESS)
    names = ("YieldPoints", "LateInlining")
    sources = (*(str(EXAMPLES / f"{name}.java") for name in names), str(folder / "Endless.java"))
    subprocess.run(["javac", "-d", str(folder), *sources], check=True)
    return str(folder)


def java(classes, *words):
    # Compiled before it goes on: otherwise a busy machine decides how long it is interpreted.
    compiling = ("-XX:TieredStopAtLevel=4", "-Xbatch")
    return ("java", *compiling, "-Xshare:auto", "-cp", classes, *words)


def functions(user):
    document = user.types("profile", "report", "--json", "-").document()
    return {item["name"]: item for item in document["functions"]}, samples_of(document)


def hottest(samples: dict[str, int]) -> str:
    return max(samples, key=lambda name: samples[name])


def test_an_inlined_method_gets_its_time_and_not_the_one_that_it_was_inlined_into(user, classes):
    sampled(user, "record", "--period", "500us", "--", *java(classes, "YieldPoints", "150"))
    found, samples = functions(user)
    # What the machine itself does comes besides, in many functions.
    assert hottest(samples) == "YieldPoints.hot"
    assert found["YieldPoints.hot"]["inlined_ratio"] > 0.5
    assert samples.get("YieldPoints.cold", 0) < samples["YieldPoints.hot"] / 2


def test_a_loop_keeps_its_time_where_the_compiler_inlined_a_call_late(user, classes):
    sampled(user, "record", "--period", "500us", "--", *java(classes, "LateInlining", "2000"))
    document = user.types("profile", "report", "--json", "-").document()
    samples = samples_of(document)
    assert hottest(samples) == "LateInlining.work"
    assert samples.get("LateInlining.product", 0) < samples["LateInlining.work"] / 4
    assert "mended-places" in [warning["code"] for warning in document["warnings"]]


def test_an_interpreted_method_is_named(user, classes):
    words = ("--", *java(classes, "-Xint", "YieldPoints", "6"))
    sampled(user, "record", "--period", "500us", *words)
    found, samples = functions(user)
    if "YieldPoints.hot" not in found and "[interpreted]" in found:
        pytest.skip("the frames of this virtual machine's interpreter are not known")
    assert hottest(samples) == "YieldPoints.hot"
    assert found["YieldPoints.hot"]["inlined_ratio"] == 0


def test_a_script_that_starts_java_is_mapped_on_request(user, classes, script):
    starter = script('exec java -cp "$1" YieldPoints 100\n', "start")
    sampled(user, "record", "--java", "--period", "500us", "--", starter, classes)
    assert "YieldPoints.hot" in functions(user)[0]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"), {"YieldPoints.hot"}),
        # Started without, it may give inlined code to the caller.
        ((), {"YieldPoints.hot", "YieldPoints.cold", "Endless.main"}),
    ],
)
def test_a_java_that_runs_already_takes_the_agent(user, classes, options, named):
    need("jcmd")
    command = java(classes, *options, "Endless")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            # It has been compiled by then.
            assert line_of(process) == b"here\n"
            sampled(user, "record", "--duration", "2s", "--pid", str(process.pid))
        finally:
            # A killed one leaves its socket for such calls in /tmp.
            process.terminate()
            process.wait(PATIENCE_S)
    _, samples = functions(user)
    assert sum(samples.get(name, 0) for name in named) > sum(samples.values()) / 2


def test_maps_of_an_earlier_recording_are_removed_and_a_damaged_one_is_one_clear_error(
    user, classes
):
    (user.home / "steelyard.profile.java-1").write_text("old")
    sampled(user, "record", "--", *java(classes, "YieldPoints", "1"))
    (left,) = user.home.glob("steelyard.profile.java-*")
    assert left.name != "steelyard.profile.java-1"
    left.write_text("nonsense")
    told = user.types("profile", "report")
    assert told.status == 2
    assert "is not a code map" in told.err
    assert told.err.count("\n") == 1


def test_a_delayed_method_is_noticed_by_the_sampler_for_java(user, classes):
    told = sampled(
        user,
        *("check", "--function", "YieldPoints.hot", "--amounts", "2", "--runs", "2"),
        *("--json", "-", "--", *java(classes, "YieldPoints", "40")),
    )
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
    words = (*options, "--", *java(classes, "YieldPoints", "1"))
    told = sampled(user, "check", *words, status=2)
    assert message in told.err
    assert told.err.splitlines()[-1].startswith("steelyard: error: ")


def test_a_profiler_of_java_refuses_other_programs(user, script):
    words = ("--profiler", "safepoint", "--", script("exit 0"))
    told = sampled(user, "check", *words, status=2)
    assert "is not Java" in told.err
