"""The commands that an experiment runs once, before its first trial on a machine."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.experiment_spec import ExperimentSpec


def run_setup_commands(spec: ExperimentSpec) -> None:
    """Run the command for the whole experiment, then those of each group, each where the first
    program that it is for runs.

    Raises
    ------
    TrialsFailedError
        One failed, or could not be started.
    """
    steps = {} if spec.setup is None else {("", spec.setup): spec.variants[0].launch}
    for variant in spec.variants:
        if variant.setup is not None:
            steps.setdefault((variant.group, variant.setup), variant.launch)
    for (_, argv), launch in steps.items():
        from steelyard.measure.setup_step import run_setup

        is_there = "{build}" not in (launch.working_directory or "")
        run_setup(argv, launch if is_there else replace(launch, working_directory=None))
