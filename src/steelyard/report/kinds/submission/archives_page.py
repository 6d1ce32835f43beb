"""The page of archives of results that an experiment's packages left."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.report.kinds.suite.text import size_text
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.pages.shell import Shell
from steelyard.service.result_archives import ArchiveTotals, ResultArchive


def archives_page(
    name: str,
    identifier: str,
    found: Sequence[ResultArchive],
    totals: ArchiveTotals,
    shell: Shell,
) -> str:
    """A row for each of `found`, the first of all of them, by the position of its trial."""
    view = {
        "shell": shell,
        "title": f"Archives of results of {name}",
        "identifier": identifier,
        "totals": totals_text(totals),
        "more": totals.count + totals.unkept_count - len(found),
        "rows": [
            {
                "position": each.position,
                "name": each.name if each.digest else "",
                "size": size_text(each.size_bytes),
                "digest": each.digest,
                "reason": each.reason,
            }
            for each in found
        ],
        "refresh_s": 0,
    }
    return rendered_page("submission/archives.html.jinja", view)


def totals_text(totals: ArchiveTotals) -> str:
    """How many there are; empty where there are none."""
    kept = f"{totals.count} archive{'s' * (totals.count != 1)} of results, "
    kept += size_text(totals.size_bytes)
    if totals.unkept_count:
        kept += f"; {totals.unkept_count} could not be kept"
    return kept if totals.count or totals.unkept_count else ""
