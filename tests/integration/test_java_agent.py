"""The agent that Java loads: delays in methods, times of threads, the sampler at safepoints."""

import subprocess

import pytest

from steelyard.core.errors import UsageError
from steelyard.profile.delayed_run import DelayedRun
from steelyard.profile.java.java_command import is_machine_thread, with_agent
from steelyard.profile.java.java_delays import JavaDelays, java_program_s
from steelyard.profile.profilers import PROFILERS
from steelyard.profile.profilers.safepoint import read_safepoint_profile
from tests.needs import need_java

# Methods with all that a shift of their code must leave right: switches, which are padded; loops
# back to the first instruction; handlers; objects under construction in frames; wide parameters.
SOURCE = """
public final class Tricky {
    static int work(int n) {
        switch (n) { case 1: return 10; case 2: return 20; case 3: return 30; default: return n; }
    }
    static long work(long a, double b, int n) {
        switch (n) { case 5: return a; case 5000: return (long) b; default: return a + (long) b; }
    }
    static int work(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException failure) {
            return -1;
        } finally {
            text = null;
        }
    }
    String work(boolean flag, Object other) {
        return new String(flag ? "yes" : String.valueOf(other)).concat(flag ? "!" : "?");
    }
    static int work(int[] counts, int at) {
        do { at--; counts[at]++; } while (at > 0);
        return counts[0];
    }
    synchronized int work(Tricky... others) {
        int sum = 0;
        for (Tricky other : others) sum += other == this ? 1 : 2;
        java.util.function.IntSupplier lazy = () -> work(3);
        return sum + lazy.getAsInt();
    }
    static void rest(int n) { work(n); }
    public static void main(String[] words) throws Exception {
        Tricky one = new Tricky();
        StringBuilder told = new StringBuilder();
        for (int round = 0; round < 20000; round++) {
            told.setLength(0);
            told.append(work(round % 4)).append(' ').append(work(7L, 8.0, round % 2 == 0 ? 5 : 6))
                .append(' ').append(work("12")).append(work("x")).append(one.work(true, null))
                .append(one.work(false, 3)).append(work(new int[3], 3)).append(one.work(one, null));
        }
        System.out.println(told);
        System.out.println(Class.forName("steelyard.Delay").getField("sink").getInt(null));
    }
}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    need_java()
    folder = tmp_path_factory.mktemp("tricky")
    (folder / "Tricky.java").write_text(SOURCE)
    subprocess.run(["javac", "Tricky.java"], cwd=folder, check=True)
    return str(folder)


def run(argv):
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def sink_after(turns):
    """What the loop of the delay computes in 32 bits with a sign."""
    value = 1
    for _ in range(turns):
        value = (value * 0x0A45 & 0xFFFFFFFF) ^ (value >> 15)
    return value - (1 << 32) if value >= 1 << 31 else value


@pytest.mark.parametrize("turns", [0, 1, 1000])
def test_a_delay_is_carried_out_and_changes_nothing_that_the_program_does(classes, turns):
    delay = {"delay": "Tricky.work", "amount": turns}
    told = run(with_agent(("java", "-Xverify:all", "-cp", classes, "Tricky"), delay))
    assert told.returncode == 0, told.stderr
    told_by_program, sink = told.stdout.splitlines()
    assert told_by_program == PLAIN
    assert int(sink) == sink_after(turns)


# round 19999: work(3), work(7, 8.0, 6), 12 and -1, yes!, 3?, 1, 1 + 2 + work(3)
PLAIN = "30 15 12-1yes!3?133"


def test_a_method_of_a_class_that_was_loaded_before_is_delayed_too(classes):
    delay = {"delay": "java.util.HashMap.put", "amount": 7}
    told = run(with_agent(("java", "-cp", classes, "Tricky"), delay))
    assert told.returncode == 0, told.stderr
    assert int(told.stdout.splitlines()[1]) == sink_after(7)


def test_a_method_that_is_not_there_is_told_of(classes):
    delay = {"delay": "Tricky.nothing", "amount": 7}
    told = run(with_agent(("java", "-cp", classes, "Tricky"), delay))
    assert "Tricky.nothing was not delayed" in told.stderr


def test_options_that_the_agent_does_not_understand_end_the_program(classes):
    told = run(with_agent(("java", "-cp", classes, "Tricky"), {"colour": "red"}))
    assert told.returncode != 0
    assert "does not understand 'colour'" in told.stderr


def test_the_time_of_a_java_program_is_that_of_its_own_threads(classes, tmp_path):
    delays = JavaDelays(("java", "-cp", classes, "Tricky"), str(tmp_path))
    assert {"Tricky.work", "Tricky.main"} <= delays.functions
    assert not any("<" in name or name.startswith("java.lang.") for name in delays.functions)
    profiler = PROFILERS.get("safepoint")
    path = str(tmp_path / "profile")
    delayed = DelayedRun("Tricky.work", 3, path, str(tmp_path / "times"))
    told = run(delays.launch(profiler, delayed).argv)
    assert told.returncode == 0, told.stderr
    assert 0 < java_program_s(delayed.times) < 60
    counts, times_ns = read_safepoint_profile(path)
    assert counts
    assert times_ns == sorted(times_ns)


def test_an_agent_that_is_loaded_twice_writes_no_map_into_that_of_the_other(classes, tmp_path):
    once = with_agent(("java", "-cp", classes, "-version"), {"map": tmp_path / "map"})
    assert run(with_agent(once, {"map": tmp_path / "map"})).returncode == 0
    (path,) = tmp_path.iterdir()
    numbers = [
        line.split("\t")[2] for line in path.read_text().split("\n") if line.startswith("M\t")
    ]
    assert len(numbers) == len(set(numbers))


def test_only_java_is_delayed_in_java(tmp_path):
    with pytest.raises(UsageError, match="is not Java"):
        JavaDelays(("sh", "-c", "true"), str(tmp_path))


def test_threads_of_the_machine_are_told_from_those_of_the_program():
    assert is_machine_thread("C2 CompilerThre")
    assert is_machine_thread("GC Thread#0")
    assert not is_machine_thread("DestroyJavaVM")
    assert not is_machine_thread("main")
