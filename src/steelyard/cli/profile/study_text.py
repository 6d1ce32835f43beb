"""What commands show of an experiment on profilers: its text, its page, its document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from steelyard.cli.console.output import (
    terminal_width,
    write_json,
    write_note,
    write_page,
    write_text,
)

if TYPE_CHECKING:
    from steelyard.app.profile.profiler_agreement import Agreement
    from steelyard.app.profile.profiler_causality import Slope
    from steelyard.app.profile.speedup_check import Speedup
    from steelyard.core.experiment_results import Experiment


class Targets(NamedTuple):
    """Where an answer goes besides the terminal."""

    json: str | None = None
    html: str | None = None


def show_study(experiment: Experiment, targets: Targets) -> None:
    """Answer a stored experiment on profilers, as the command that made it does."""
    spec = experiment.spec
    assert spec.profiles is not None
    argv = spec.profiles.argv
    if spec.profiles.question == "causality":
        from steelyard.app.profile.profiler_causality import delay_kind, stored_slopes

        show_slopes(stored_slopes(experiment), argv, delay_kind(spec), targets)
    elif spec.profiles.question == "speedup":
        from steelyard.app.profile.speedup_check import stored_speedup

        mended = spec.variants[1].launch.argv
        show_speedup(stored_speedup(experiment), argv, mended, targets)
    else:
        from steelyard.app.profile.profiler_agreement import judge_profiles, stored_agreement

        profiles = stored_agreement(experiment, write_note)
        show_agreement(judge_profiles([profiles], spec.confidence, spec.seed), targets)


def show_slopes(slopes: Sequence[Slope], argv: Sequence[str], delay: str, targets: Targets) -> None:
    """Show the slopes of delayed functions."""
    from steelyard.app.profile.profiler_cautions import profiler_cautions
    from steelyard.report.kinds.causality.document import causality_document
    from steelyard.report.kinds.causality.text import causality_text

    if targets.html is not None:
        from steelyard.report.kinds.causality.page import causality_page

        write_page(causality_page(slopes, argv), targets.html)
    write_json(causality_document(slopes, argv, delay), targets.json)
    if targets.json != "-":
        cautions = profiler_cautions(slope.profiler for slope in slopes)
        write_text(causality_text(slopes, cautions=cautions))


def show_speedup(
    found: Speedup, argv: Sequence[str], mended: Sequence[str], targets: Targets
) -> None:
    """Show the gain of a mended build and what was promised of it."""
    from steelyard.report.kinds.speedup.document import speedup_document
    from steelyard.report.kinds.speedup.text import speedup_text

    if targets.html is not None:
        from steelyard.report.kinds.speedup.page import speedup_page

        write_page(speedup_page(found, argv), targets.html)
    write_json(speedup_document(found, argv, mended), targets.json)
    if targets.json != "-":
        write_text(speedup_text(found))


def show_agreement(found: Agreement, targets: Targets) -> None:
    """Show how far profilers agree."""
    from steelyard.app.profile.profiler_cautions import profiler_cautions
    from steelyard.report.kinds.agreement.document import agreement_document
    from steelyard.report.kinds.agreement.text import agreement_text

    if targets.html is not None:
        from steelyard.report.kinds.agreement.page import agreement_page

        write_page(agreement_page(found), targets.html)
    write_json(agreement_document(found), targets.json)
    if targets.json != "-":
        names = (name for item in found.programs for name in item.profiles.runs)
        write_text(agreement_text(found, terminal_width(), profiler_cautions(names)))
