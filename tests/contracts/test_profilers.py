import contextlib
import os
import shutil
import subprocess
import sys

import pytest

from steelyard.core.errors import DataError, MissingCapabilityError, UsageError
from steelyard.profile.profilers import PROFILERS
from tests.needs import need
from tests.profiled_programs import HOT_IN_PYTHON

SOURCE = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static APART void turn(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) __asm__ volatile("" : "+r"(i));
}
APART void cold(void) { turn(1); }
APART void hot(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) __asm__ volatile("" : "+r"(i));
    cold();
}
int main(int count, char **words) { hot(atol(words[1])); return 0; }
"""
# Its child does another thing.
STARTS_ITSELF = """
    if (count > 2) { hot(atol(words[1])); return 0; }
    if (fork() == 0) execl("/proc/self/exe", words[0], words[1], "again", (char *)0);
    turn(atol(words[1]));
    wait(0);
"""
CPP = r"""
#include <cstdlib>
namespace {
struct Work {
    __attribute__((noinline)) void hot(unsigned long n) {
        for (unsigned long i = 0; i < n; i++) __asm__ volatile("" : "+r"(i));
    }
    __attribute__((noinline)) void hot(double) { __asm__ volatile(""); }
};
}
int main(int, char **words) { Work().hot(strtoul(words[1], 0, 10)); Work().hot(1.0); }
"""
JAVA = """
public final class Work {
    static long sum;
    static long cold(long n) { return n; }
    static long hot(long n) {
        long x = 1;
        for (long i = 0; i < n; i++) x = x * 2862933555777941757L + i;
        return cold(x);
    }
    public static void main(String[] words) {
        for (int i = 0; i < 20; i++) sum += hot(Long.parseLong(words[0]));
        System.out.println(sum);
    }
}
"""
# Some tenths of a second by any of them, of which the slowest look every hundredth; a simulator
# takes fewer turns.
TURNS = {"callgrind": "1000000", "python": "4000000", "native": "600000000", "jvm": "30000000"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """For each language, and for gprof's own kind of build, the command without its argument."""
    need("gcc")
    folder = tmp_path_factory.mktemp("programs")
    (folder / "work.py").write_text(HOT_IN_PYTHON)
    (folder / "work.c").write_text(SOURCE)
    for name, flags in {"work": (), "work-pg": ("-pg",)}.items():
        command = ["gcc", "-O1", *flags, "work.c", "-o", name]
        subprocess.run(command, cwd=folder, check=True)
    jvm = {}
    if shutil.which("javac"):
        (folder / "Work.java").write_text(JAVA)
        subprocess.run(["javac", "Work.java"], cwd=folder, check=True)
        jvm = {"jvm": ["java", "-cp", str(folder), "Work"]}
    return {
        **jvm,
        "python": [sys.executable, "-S", str(folder / "work.py")],
        "native": [str(folder / "work")],
        "gprof": [str(folder / "work-pg")],
    }


def asked(programs, profiler):
    known = programs.get(profiler.name) or programs.get(profiler.language)
    if known is None:
        pytest.skip(f"no program here is in {profiler.language}")
    return [*known, TURNS.get(profiler.name) or TURNS[profiler.language]]


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    """From a profiler to the code maps beside its profile."""
    root = tmp_path_factory.getbasetemp()
    return lambda profiler: root.glob(f"{profiler.name}0/profile.java-*")


def present(profiler, argv):
    try:
        profiler.require(argv)
    except MissingCapabilityError as error:
        pytest.skip(error.message)


@pytest.fixture(scope="module")
def profile(programs, tmp_path_factory):
    """From a profiler to its profile of a run, made once: the command, the name and the bytes."""
    made = {}

    def profiled(profiler):
        argv = asked(programs, profiler)
        present(profiler, argv)
        if profiler.name not in made:
            folder = tmp_path_factory.mktemp(profiler.name)
            launch = profiler.launch(str(folder / "profile"), argv, 1)
            environment = {**os.environ, **launch.environment}
            told = subprocess.run(launch.argv, env=environment, capture_output=True, check=False)
            if b"perf_event_paranoid" in told.stderr:
                pytest.skip("this machine gives no samples")
            assert told.returncode == 0, told.stderr
            # A code map may lie beside it.
            written, *_ = sorted(folder.iterdir(), key=lambda path: len(path.name))
            made[profiler.name] = (argv, written.name, written.read_bytes())
        return made[profiler.name]

    return profiled


def plain(function):
    """A function without the file or the class that some languages put around its name."""
    return function.split(" (")[0].removeprefix("Work.")


@pytest.mark.parametrize("name", PROFILERS.names())
def test_a_profiler_runs_the_program_with_its_arguments_and_finds_the_hot_function(
    name, profile, maps, tmp_path
):
    profiler = PROFILERS.get(name)
    assert profiler.name == name
    assert profiler.description
    argv, file, data = profile(profiler)
    assert profiler.launch("profile", argv, 1).argv[-2:] == tuple(argv[-2:])
    for beside in maps(profiler):
        shutil.copy(beside, tmp_path)
    (tmp_path / file).write_bytes(data)
    reading = profiler.read(str(tmp_path / "profile"), argv)
    shares = {plain(function): share for function, share in reading.shares.items()}
    # The sampler at safepoints is there to be wrong: it takes a caller for the function.
    assert max(shares, key=shares.get) in {"hot", "main" if name == "safepoint" else "hot"}
    assert sum(reading.shares.values()) == pytest.approx(1)
    assert ("cold", "hot") not in {(plain(a), plain(b)) for a, b in reading.calls}


@pytest.mark.parametrize("name", ["steelyard", "steelyard-jvm"])
def test_our_own_sampler_looks_at_the_times_of_its_seed(name, programs):
    profiler = PROFILERS.get(name)
    argv = asked(programs, profiler)
    present(profiler, argv)
    words = profiler.launch("profile", argv, 7).argv
    assert words[words.index("--seed") + 1] == "7"


@pytest.mark.parametrize("name", ["gprof", "gperftools", "callgrind", "cprofile"])
def test_a_profiler_that_sees_calls_says_who_called_whom(name, profile, tmp_path):
    profiler = PROFILERS.get(name)
    argv, file, data = profile(profiler)
    (tmp_path / file).write_bytes(data)
    calls = profiler.read(str(tmp_path / "profile"), argv).calls
    assert {(plain(a), plain(b)) for a, b in calls} & {("main", "hot"), ("<module>", "hot")}


@pytest.mark.parametrize("name", PROFILERS.names())
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"\0" * 4096,
        lambda data: b"not a profile at all\n" * 40,
        lambda data: data[: len(data) // 2],
        lambda data: data[: len(data) - 3],
    ],
    ids=["empty", "zeros", "text", "half", "short"],
)
def test_a_file_of_another_tool_or_a_damaged_one_is_one_clear_error(
    name, damage, profile, tmp_path
):
    profiler = PROFILERS.get(name)
    argv, file, whole = profile(profiler)
    left = damage(whole)
    (tmp_path / file).write_bytes(left)
    # A format of lines or chunks may well be readable to where it was cut off.
    if left and whole.startswith(left):
        with contextlib.suppress(DataError):
            assert profiler.read(str(tmp_path / "profile"), argv).shares
        return
    with pytest.raises(DataError) as told:
        profiler.read(str(tmp_path / "profile"), argv)
    assert str(tmp_path / "profile") in told.value.message
    assert "\n" not in told.value.message


@pytest.mark.parametrize("name", PROFILERS.names())
def test_a_profile_that_is_not_there_is_one_clear_error(name, profile, tmp_path):
    profiler = PROFILERS.get(name)
    argv, *_ = profile(profiler)
    with pytest.raises(DataError, match="nowhere"):
        profiler.read(str(tmp_path / "nowhere"), argv)


@pytest.mark.parametrize("name", ["steelyard", "perf", "gperftools", "callgrind"])
def test_a_profiler_leaves_nothing_in_the_home_of_its_user(name, tmp_path):
    profiler = PROFILERS.get(name)
    present(profiler, ["true"])
    home = tmp_path / "home"
    home.mkdir()
    launch = profiler.launch(str(tmp_path / "profile"), ["true"], 1)
    around = {**os.environ, **launch.environment, "HOME": str(home)}
    subprocess.run(launch.argv, env=around, capture_output=True, check=False)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("name", ["steelyard", "perf", "gperftools", "callgrind"])
def test_overloads_of_cpp_are_called_alike_by_all(name, tmp_path):
    need("g++")
    profiler = PROFILERS.get(name)
    (tmp_path / "work.cpp").write_text(CPP)
    program = str(tmp_path / "work")
    subprocess.run(["g++", "-O1", "-g", str(tmp_path / "work.cpp"), "-o", program], check=True)
    present(profiler, [program])
    path = str(tmp_path / "profile")
    launch = profiler.launch(path, [program, TURNS.get(name) or TURNS["native"]], 1)
    told = subprocess.run(
        launch.argv, env={**os.environ, **launch.environment}, capture_output=True, check=False
    )
    if b"perf_event_paranoid" in told.stderr:
        pytest.skip("this machine gives no samples")
    shares = profiler.read(path, [program]).shares
    # What loads the program takes more of a simulated processor.
    assert "(anonymous namespace)::Work::hot(unsigned long)" in shares


@pytest.mark.parametrize("name", ["steelyard", "perf", "gperftools", "gprof"])
def test_what_a_program_starts_is_in_its_profile(name, tmp_path):
    need("gcc")
    profiler = PROFILERS.get(name)
    (tmp_path / "work.c").write_text(SOURCE.replace("hot(atol(words[1]));", STARTS_ITSELF))
    flags = ("-pg",) if name == "gprof" else ()
    program = str(tmp_path / "work")
    subprocess.run(["gcc", "-O1", *flags, str(tmp_path / "work.c"), "-o", program], check=True)
    present(profiler, [program])
    path = str(tmp_path / "profile")
    launch = profiler.launch(path, [program, TURNS["native"]], 1)
    told = subprocess.run(
        launch.argv, env={**os.environ, **launch.environment}, capture_output=True, check=False
    )
    if b"perf_event_paranoid" in told.stderr:
        pytest.skip("this machine gives no samples")
    assert {"hot", "turn"} <= set(profiler.read(path, [program]).shares)


def test_a_library_that_is_loaded_before_others_still_is_so_under_gperftools(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/lib/mine.so")
    loaded = PROFILERS.get("gperftools").launch("profile", ["true"], 1).environment["LD_PRELOAD"]
    assert loaded.endswith("/lib/mine.so")


@pytest.mark.parametrize(
    ("name", "program", "message"),
    [
        ("gprof", "native", "-pg"),
        ("gperftools", "gprof", "a build without"),
        ("callgrind", "gprof", "a build without"),
        ("cprofile", "native", "python3 SCRIPT"),
        ("py-spy", "native", "python3 SCRIPT"),
    ],
)
def test_a_program_that_a_profiler_cannot_profile_is_refused(name, program, message, programs):
    profiler = PROFILERS.get(name)
    try:
        with pytest.raises(UsageError, match=message):
            profiler.require([*programs[program], "1"])
    except MissingCapabilityError as error:
        pytest.skip(error.message)
