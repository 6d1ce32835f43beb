"""`steelyard profile report` of a recording whose samples are looked up in a map of call paths."""

from __future__ import annotations

from steelyard.cli.console.output import (
    terminal_width,
    write_data,
    write_json,
    write_page,
    write_text,
)
from steelyard.cli.profile.record_options import ProfileReportOptions, most_named


def report_paths(path: str, given: ProfileReportOptions) -> None:
    """Show each path's share of the time, and which samples may have come by several."""
    from steelyard.app.profile.path_profile import exported_paths, read_paths

    paths = read_paths(
        path, given.confidence, given.path_map, given.apart, given.static, most_named(given)
    )
    if given.format_name is not None and given.output is not None:
        write_data(exported_paths(paths, given.format_name), given.output)
    if given.html_target is not None:
        from steelyard.report.kinds.paths.sampled_page import sampled_page

        write_page(sampled_page(paths), given.html_target)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.sampled_document import sampled_document

        write_json(sampled_document(paths), given.json_target)
    if "-" in (given.output, given.json_target):
        return
    from steelyard.report.kinds.paths.sampled_text import sampled_text

    write_text(sampled_text(paths, terminal_width()))
