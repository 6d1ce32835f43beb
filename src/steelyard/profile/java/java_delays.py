"""Java programs in which one method takes longer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

from steelyard.core.errors import DataError
from steelyard.core.go_between import run_between
from steelyard.profile.delayed_run import DelayedRun
from steelyard.profile.java.java_code import java_code_prefix, read_java_codes
from steelyard.profile.java.java_command import require_java, with_agent
from steelyard.profile.profilers import Launch, Profiler

# With these the optimising compiler puts no safepoint into the loop of the delay, as it puts none
# into code without calls and loops. With one, every profiler that needs safepoints would see it.
WITHOUT_POLLS = ("-XX:-UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=0")
# Methods of these the compiler often replaces by code of its own, so that a delay in them is not
# carried out; and these classes are there once for all that runs in the machine.
_OF_THE_MACHINE = ("java.lang.", "jdk.internal.", "sun.")
# Constructors, and classes that are made while the program runs and that no file holds.
_WITHOUT_FILE = ("<", "$$Lambda", "LambdaForm", "$Proxy", "GeneratedMethodAccessor")


class JavaDelays:
    """A Java program, and what makes one of its methods take longer.

    The agent rewrites the class when it is loaded: a loop at the method's beginning, the same
    bytecode for every amount, which is a field that the loop reads.

    Parameters
    ----------
    argv : sequence of str
        Java with its arguments.
    folder : str
        For files of our own.

    Raises
    ------
    UsageError
        The command does not start Java.
    """

    def __init__(self, argv: Sequence[str], folder: str) -> None:
        require_java("of the check", argv)
        self.argv = tuple(argv)
        self._folder = folder

    @cached_property
    def functions(self) -> frozenset[str]:
        """The methods that can be delayed: those of the classes that a run of the program loads."""
        path = os.path.join(self._folder, "classes")
        with open(os.devnull, "r+b", buffering=0) as null:
            run_between(
                with_agent(self.argv, {"map": java_code_prefix(path)}),
                os.environb,
                (null.fileno(), null.fileno(), null.fileno()),
            )
        names = (name for code in read_java_codes(path).values() for name in code.names)
        return frozenset(
            name
            for name in names
            if not name.startswith(_OF_THE_MACHINE)
            and not any(part in name for part in _WITHOUT_FILE)
        )

    def launch(self, profiler: Profiler | None, run: DelayedRun) -> Launch:
        """How the program is run with a method delayed, under a profiler or none."""
        options = {"delay": run.function, "amount": run.turns, "times": run.times}
        argv = with_agent(self.argv, options, WITHOUT_POLLS)
        return Launch(argv) if profiler is None else profiler.launch(run.profile, argv, run.seed)

    def undelayed(self, times: str) -> Launch:
        """How the program is run as it is, with its time taken."""
        return Launch(with_agent(self.argv, {"times": times}))


def java_program_s(times: str) -> float:
    """The processor time of a program's own threads by its file of times, in seconds: without what
    the machine compiled and collected meanwhile, and without its start.

    Raises
    ------
    DataError
        None ran, or it was killed.
    """
    try:
        with open(times, encoding="ascii") as file:
            return int(file.read()) * 1e-9
    except (OSError, ValueError):
        raise DataError("The program's time is not known: it did not end by itself.") from None
