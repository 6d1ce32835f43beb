"""Same-page merging: a kernel thread reads memory in search of equal pages."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.system import Host

_PATH = "/sys/kernel/mm/ksm/run"


class SamePageMerging(FileKnob):
    """The kernel's switch for it."""

    name = "same-page-merging"
    title = "same-page merging (KSM)"
    in_default_set = True
    wanted_text = "off"
    order = 48

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        return [_PATH]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "0"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value = host.read(_PATH)
        if value is None:
            return "not in this kernel", "ok"
        return ("off", "ok") if value == "0" else ("on", "warning")

    def advice(self, host: Host, request: Request) -> str:
        return f"echo 0 > /sys/kernel/mm/ksm/run, or {super().advice(host, request)}"


EXTENSION = SamePageMerging()
