"""A knob that is one file of the kernel with 0 or 1 in it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.system import Host


class SwitchKnob(FileKnob):
    """A kernel's switch that is quiet when it is off.

    A knob of this kind sets `path`, the command that switches it off by hand, and how bad it is
    when on.
    """

    path: str
    command: str
    severity_when_on: Severity
    in_default_set = True
    wanted_text = "off"

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        return [self.path]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "0"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        value = host.read(self.path)
        if value is None:
            return "not in this kernel", "ok"
        return ("off", "ok") if value == "0" else ("on", self.severity_when_on)

    def advice(self, host: Host, request: Request) -> str:
        return f"{self.command}, or {super().advice(host, request)}"
