"""What is to be run, as frozen values.

A specification says everything that a trial needs and holds no resource; every one of them
goes to JSON and back through `core/json_codec.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Literal

from steelyard.core.build_spec import BuildSpec
from steelyard.core.events_spec import EventsSpec
from steelyard.core.gate_spec import GateSpec
from steelyard.core.package_spec import PackageSpec
from steelyard.core.placement_spec import PlacementSpec
from steelyard.core.profiled_spec import ProfiledSpec, ProfileStudySpec
from steelyard.core.repetition import BUILD_LEVEL, EXECUTION_LEVEL, DimensionedBy, RepetitionLevel
from steelyard.core.stopping_spec import StoppingSpec

Direction = Literal["lower", "higher"]
# Of a block one after the other in random order, all of it at the same time, or no blocks.
Order = Literal["blocks", "parallel", "sequential"]


@dataclass(frozen=True)
class LaunchSpec:
    """How one program is started.

    Parameters
    ----------
    argv : tuple of str
        The program and its arguments; bytes that are not UTF-8 as surrogate escapes.
        ``--shell`` has already become ``("/bin/sh", "-c", command)``.
    environment : tuple of (name, value)
        Changes to the environment of Steelyard; a value of None removes the variable.
    environment_padding_bytes : int
        Size of an extra variable, which moves the start of the stack.
    working_directory, stdin_file : str or None
        None: the directory of the caller, and an empty input.
    timeout_s : float or None
        After it the whole process group is ended and the trial failed with reason ``timeout``.
    expected_exit_codes : tuple of int
        Any other exit code is a failed trial.
    cpus : tuple of int or None
        The CPUs that the program may use; None leaves the caller's set.
    aslr : bool or None
        False switches address randomisation off for the program; None leaves it as it is.
    nice, realtime_priority : int or None
        Niceness, or the priority of ``SCHED_FIFO``.
    stack_padding_bytes : int
        Moves the start of the stack by so many bytes, up to about 4,000, through the path that
        the kernel puts on top of it; the program sees the same arguments and environment.
    stack_hold_bytes : int or None
        Lowers the start of the stack by so many bytes in all, with what the environment's padding
        lowers it by, so that it starts at one place whatever that padding is. Takes the place of
        `stack_padding_bytes`.
    limits : tuple of (name, value)
        Resource limits by their names in setrlimit(2) without ``RLIMIT_``, in its units.
    private_network : bool
        Run in a network namespace of its own, without any interface that is up.
    memory_nodes : tuple of int or None
        The NUMA nodes that memory is taken from; None leaves the caller's policy.
    clock_shift_s : int or None
        The program sees the clocks that count from boot by so many seconds later.
    warmup_runs : int
        Executions right before the measured one, under the same conditions.
    container : str or None
        The folder of the state of a container that the preparation holds: the program runs in it.
    """

    argv: tuple[str, ...]
    environment: tuple[tuple[str, str | None], ...] = ()
    environment_padding_bytes: int = 0
    working_directory: str | None = None
    stdin_file: str | None = None
    timeout_s: float | None = None
    expected_exit_codes: tuple[int, ...] = (0,)
    cpus: tuple[int, ...] | None = None
    aslr: bool | None = None
    nice: int | None = None
    realtime_priority: int | None = None
    stack_padding_bytes: int = 0
    limits: tuple[tuple[str, int], ...] = ()
    private_network: bool = False
    memory_nodes: tuple[int, ...] | None = None
    clock_shift_s: int | None = None
    warmup_runs: int = 0
    stack_hold_bytes: int | None = None
    container: str | None = None


@dataclass(frozen=True)
class OutputCheck:
    """What a trial must have written to count.

    Parameters
    ----------
    comparator : str
        ``"sha256"`` (the bytes), ``"text"`` (lines, so that the first that differs is named) or
        ``"numbers"`` (as text, with numbers equal within `tolerance_ratio`).
    expected : str
        The digest, or the path of the file with what is expected.
    file : str or None
        The file to look at, relative to the working directory; None: the standard output.
    tolerance_ratio : float
        Of ``"numbers"``: the relative difference that passes.
    ignore : str or None
        A regular expression: lines in which it is found are left out, such as those with times.
    """

    comparator: Literal["sha256", "text", "numbers"]
    expected: str
    file: str | None = None
    tolerance_ratio: float = 0.0
    ignore: str | None = None


@dataclass(frozen=True)
class HostLevel:
    """What something about the machine is to be while a trial runs.

    Parameters
    ----------
    factor : str
        What tables call it.
    setting : str
        Which setting of the host room.
    level : str
    texts : tuple of (name, text)
        What else is said of it: the commands of one that the user brings, the CPUs and services
        of knobs.
    """

    factor: str
    setting: str
    level: str
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Variant:
    """One of the things compared: its name, its program, and what is done around each trial.

    Variants of one `group` are compared with the first of it; a parameter sweep over several
    commands makes one group for each combination of parameter values. `build` makes the program
    and `checks` say what its output must be; a trial that fails one has failed. `host` is what the
    machine is to be like meanwhile. `setup` is run once for its group before the first trial.
    `profiled` is what the program is wrapped in: a profiler, a delay. `benchmark` is what it runs,
    where an experiment holds several benchmarks; the variants of one are a group. `package` is the
    benchmark package that its build and its program come from.
    """

    name: str
    launch: LaunchSpec
    prepare: tuple[str, ...] | None = None
    cleanup: tuple[str, ...] | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    group: str = ""
    build: BuildSpec | None = None
    checks: tuple[OutputCheck, ...] = ()
    host: tuple[HostLevel, ...] = ()
    setup: tuple[str, ...] | None = None
    profiled: ProfiledSpec | None = None
    benchmark: str = ""
    package: PackageSpec | None = None

    @property
    def side(self) -> str:
        """What it is called beside the others of its benchmark: its name without the benchmark."""
        return (self.benchmark and self.name.removeprefix(f"{self.benchmark} ")) or self.name


@dataclass(frozen=True)
class MetricSpec:
    """A metric that an experiment asks for.

    `source` names what gives the value: ``"record"`` (the launcher's record of the trial),
    ``"counter"`` (a performance counter), ``"regex"`` or ``"json"`` (what the program prints),
    ``"iterations"`` (what its harness writes of each iteration); `pattern` is the expression or
    path of ``"regex"`` and ``"json"``.
    """

    name: str
    unit: str
    direction: Direction = "lower"
    source: Literal["record", "counter", "regex", "json", "iterations"] = "record"
    pattern: str | None = None


@dataclass(frozen=True)
class IterationsSpec:
    """Where the iterations inside each trial are found.

    Parameters
    ----------
    adapter : str
        Its name: how the harness writes them.
    file : str or None
        A file that the harness writes under this name; None: the file that each trial is given,
        or its output.
    pattern : str or None
        For an adapter that takes one.
    benchmark : str or None
        Which of the harness's benchmarks; None where it runs only one.
    warmup_count : int or None
        How many iterations to drop at the start of each trial; None drops those that the harness
        calls warm-up.
    count : int or None
        How many iterations to keep were asked of the program, which may give another number.
    """

    adapter: str
    file: str | None = None
    pattern: str | None = None
    benchmark: str | None = None
    warmup_count: int | None = None
    count: int | None = None


@dataclass(frozen=True)
class NuisanceFactor:
    """Something that an experiment randomises because nobody wants its effect.

    Parameters
    ----------
    name : str
        Of its column in tables.
    factor : str
        Which factor of the factors room it is.
    levels : tuple of str
        Drawn from with equal probability; empty: the factor draws by `options`.
    options : tuple of (name, value)
    texts : tuple of (name, text)
        What the file says of a factor that the user brings.
    """

    name: str
    factor: str
    levels: tuple[str, ...] = ()
    options: tuple[tuple[str, int], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ExperimentSpec:
    """A design, and everything needed to repeat it.

    `levels` are the repetition levels above the iterations, highest first; without any, each
    block is one execution of every variant. `dimensioned` says where their counts come from, if
    from initial experiments. `varied` are the factors of an experiment file with their levels in
    its order: the first level of each is the baseline. `recorded_environment` names variables
    whose values are to be kept beside those that are kept anyway. `profiles` is what trials of
    profiled programs are to answer. `gates` are what the comparison must show. `asked` is what its
    file asks of it: a JSON object with the file's path and its tables `analysis`, `cause` and
    `events`; empty without a file. `placement` says which worker of a service ran which block.
    """

    identifier: str
    kind: Literal["measurement", "comparison"]
    variants: tuple[Variant, ...]
    metrics: tuple[MetricSpec, ...]
    seed: int
    order: Order = "blocks"
    warmup_count: int = 0
    stopping: StoppingSpec = field(default_factory=StoppingSpec)
    setup: tuple[str, ...] | None = None
    confidence: float = 0.95
    margin_ratio: float = 0.01
    method: str = "fieller"
    quiet: tuple[str, ...] = ()
    note: str = ""
    iterations: IterationsSpec | None = None
    levels: tuple[RepetitionLevel, ...] = ()
    dimensioned: tuple[DimensionedBy, ...] = ()
    nuisance: tuple[NuisanceFactor, ...] = ()
    setup_each: Literal["trial", "block"] = "block"
    varied: tuple[tuple[str, tuple[str, ...]], ...] = ()
    events: EventsSpec | None = None
    recorded_environment: tuple[str, ...] = ()
    profiles: ProfileStudySpec | None = None
    gates: tuple[GateSpec, ...] = ()
    asked: str = ""
    placement: PlacementSpec | None = None

    @property
    def primary_metric(self) -> MetricSpec:
        """The metric that verdicts and stopping look at: the first one asked for."""
        return self.metrics[0]

    @property
    def user_levels(self) -> tuple[RepetitionLevel, ...]:
        """The levels that the user named, highest first; builds and executions are below them."""
        own = (BUILD_LEVEL, EXECUTION_LEVEL)
        return tuple(level for level in self.levels if level.name not in own)

    @property
    def repeats_builds(self) -> bool:
        """Whether builds are repeated, rather than made once for the whole experiment."""
        return any(level.name == BUILD_LEVEL for level in self.levels)

    @property
    def trials_of_variant(self) -> int:
        """How many trials a block has of each variant."""
        return prod(level.count or 1 for level in self.levels[1:])

    @property
    def has_commands(self) -> bool:
        """Whether it can be run: what was imported from other tools often names no command."""
        return any(variant.launch.argv for variant in self.variants)

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the variants of each group, its baseline first."""
        found: dict[str, list[int]] = {}
        for index, variant in enumerate(self.variants):
            found.setdefault(variant.group, []).append(index)
        return tuple(tuple(group) for group in found.values())
