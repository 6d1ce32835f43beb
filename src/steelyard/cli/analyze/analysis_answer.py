"""What every command ends with that answers by an analysis: page, plots, document, text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.cli.console.output import terminal_width, write_json, write_page, write_text
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed


def show_answer(
    found: Analyzed, html: str | None, plots: str | None, json_target: str | None
) -> None:
    """Write the answer wherever it was asked for.

    Raises
    ------
    UsageError
        A page or plots were asked of a kind of result that has none.
    """
    from steelyard.report.kinds import RENDERINGS

    rendering = RENDERINGS.get(found.result.kind)
    if html is not None:
        if rendering.page is None:
            raise UsageError(f"--method {found.origin.method} has no page.", field="--html")
        write_page(rendering.page(found.result, found.origin), html)
    if plots is not None:
        if rendering.plots is None:
            raise UsageError(f"--method {found.origin.method} has no plots.", field="--plots")
        rendering.plots(found.result, plots)
    write_json(rendering.document(found.result, found.origin), json_target)
    if json_target != "-":
        write_text(rendering.text(found.result, found.origin, terminal_width()))
