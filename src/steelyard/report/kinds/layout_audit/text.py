"""An audit of a program's layout in words."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.layout.audit import LayoutAudit, SampledCode


def sample_lines(sampled: SampledCode) -> Iterator[str]:
    """Where the samples of a run lie: shares in one line, then what they lie in that stays."""

    def share(count: int) -> str:
        return f"{100 * count / sampled.count:.1f} %"

    yield (
        f"{sampled.count} samples: {share(sampled.moving_count)} in functions that move, "
        f"{share(sampled.staying_count)} in functions that stay, {share(sampled.runtime_count)} in "
        f"the runtime, {share(sampled.elsewhere_count)} in other files and the kernel."
    )
    for name, count in sampled.staying:
        yield f"sampled where it stays: {name}: {count} samples, {share(count)}"
    for path, count in sampled.elsewhere:
        yield f"sampled elsewhere: {path}: {count} samples, {share(count)}"


def audit_lines(audit: LayoutAudit) -> Iterator[str]:
    """What moves in one line, then everything that does not, with its reason."""
    moving_count = len(audit.functions) - len(audit.exempted)
    interval = f"every {audit.interval_ns / 1e9:g} s" if audit.interval_ns else "once at the start"
    parts = ", ".join(audit.parts) or "nothing"
    yield f"{audit.path} randomises {parts}, {interval}."
    yield (
        f"{moving_count} of {len(audit.functions)} functions move: {audit.moving_bytes} of "
        f"{audit.code_bytes} bytes of code, {100 * audit.moving_ratio:.1f} %."
    )
    yield f"{audit.padded_count} frames have a random pad."
    if "blocks" in audit.parts:
        yield f"{audit.block_count} basic blocks lie apart."
    if audit.own_malloc:
        yield "The heap is not shuffled: the program has a malloc of its own."
    for section, count in audit.unnamed:
        yield f"stays: {section} ({count} bytes): no symbol names this code"
    for function in audit.exempted:
        yield f"stays: {function.name} ({function.size_bytes} bytes): {function.exempted}"
    for function in audit.whole if "blocks" in audit.parts else ():
        yield f"whole: {function.name}: {function.whole}"
    for name, reason in audit.unpadded:
        yield f"no pad: {name}: {reason}"
