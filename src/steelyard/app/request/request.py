"""What a user asked for, before it is a specification."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.app.request.build_request import BuildRequest
from steelyard.app.request.level_request import RequestedLevels
from steelyard.core.experiment_spec import Order
from steelyard.core.gate_spec import GateSpec
from steelyard.core.stopping_spec import StoppingSpec


@dataclass(frozen=True)
class Request:
    """What a user asked for, as the command line gives it.

    `commands` are argument vectors, or single strings for the shell when `shell` is set; a single
    one with several builds is a variant for each build. `prepare` and `cleanup` hold one command
    for all variants or one for each. `usual_budget` gives the experiment the budget that suits its
    variants; `patient` says that what is asked for takes longer.
    """

    commands: tuple[tuple[str, ...], ...]
    shell: bool = False
    names: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    setup: str | None = None
    environment: tuple[str, ...] = ()
    environment_padding_bytes: int = 0
    recorded_environment: tuple[str, ...] = ()
    directory: str | None = None
    stdin_file: str | None = None
    timeout_s: float | None = None
    exit_codes: tuple[int, ...] = (0,)
    cpus: tuple[int, ...] | None = None
    parameters: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    order: Order = "blocks"
    warmup_count: int = 0
    stopping: StoppingSpec = field(default_factory=StoppingSpec)
    usual_budget: bool = False
    patient: bool = False
    confidence: float = 0.95
    margin_ratio: float = 0.01
    method: str = "fieller"
    seed: int | None = None
    quiet: tuple[str, ...] = ()
    note: str = ""
    iterations: str | None = None
    benchmark: str | None = None
    warmup_iteration_count: int | None = None
    levels: RequestedLevels = field(default_factory=RequestedLevels)
    build: BuildRequest = field(default_factory=BuildRequest)
    dimensioned: bool = False
    gates: tuple[GateSpec, ...] = ()
