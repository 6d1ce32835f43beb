"""Transparent huge pages: whether memory comes in pieces of 2 MiB depends on luck."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.factors.factor import one_of
from steelyard.factors.host_levels import draw_of, host_factor
from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.setting import FileSetting
from steelyard.host.system import Host

_PATH = "/sys/kernel/mm/transparent_hugepage/enabled"
_LEVELS = ("always", "madvise", "never")


class TransparentHugePagesKnob(FileKnob):
    """THP for all programs. Not in the default set: a program may be slower without them."""

    name = "transparent-hugepages"
    title = "transparent huge pages"
    wanted_text = "never"

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        return [_PATH]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "never"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value = host.selected(_PATH)
        if value is None:
            return "not in this kernel", "ok"
        # Under madvise only programs that ask for them get them.
        severity: dict[str, Severity] = {"never": "ok", "madvise": "info"}
        return value, severity.get(value, "warning")

    def advice(self, host: Host, request: Request) -> str:
        return f"echo never > {_PATH}, or {super().advice(host, request)}"


KNOB = TransparentHugePagesKnob()


class TransparentHugePagesSetting(FileSetting):
    """Whether memory comes in pieces of 2 MiB."""

    name = "transparent-hugepages"

    def paths(self, host: Host) -> Sequence[str]:
        return [_PATH]


SETTING = TransparentHugePagesSetting()


FACTOR = host_factor(
    "transparent-hugepages",
    "Whether memory comes in huge pages: always, madvise (where asked for) or never.",
    one_of(*_LEVELS),
    draw_of(*_LEVELS),
)
