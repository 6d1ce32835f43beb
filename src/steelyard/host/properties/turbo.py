"""Turbo: a clock above the nominal one for as long as heat and the other cores allow it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.knob import FileKnob, Request, Severity
from steelyard.host.system import Host

_CPU = "/sys/devices/system/cpu"
_NO_TURBO = f"{_CPU}/intel_pstate/no_turbo"
_BOOST = f"{_CPU}/cpufreq/boost"
_POLICIES = f"{_CPU}/cpufreq"


class Turbo(FileKnob):
    """Turbo or boost, as the frequency driver calls it."""

    name = "turbo"
    title = "turbo"
    in_default_set = True
    wanted_text = "off"
    order = 41
    absent_reason = "no turbo control here; a virtual machine leaves it to the one below"

    def paths(self, host: Host, request: Request) -> Sequence[str]:
        if host.exists(_NO_TURBO):
            return [_NO_TURBO]
        if host.exists(_BOOST):
            return [_BOOST]
        # amd-pstate may offer it for each domain only.
        each = [f"{_POLICIES}/{name}/boost" for name in host.names(_POLICIES)]
        return [path for path in each if host.exists(path)]

    def quiet_text(self, host: Host, path: str, text: str) -> str:
        return "1" if path == _NO_TURBO else "0"

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        found = self.read(host, request)
        if not found:
            return None, "info"
        is_off = all(self.quiet_text(host, path, text) == text for path, text in found.items())
        return ("off", "ok") if is_off else ("on", "warning")

    def advice(self, host: Host, request: Request) -> str:
        paths = self.paths(host, request)
        if not paths:
            return ""
        text = self.quiet_text(host, paths[0], "")
        return f"echo {text} > {paths[0]}, or {super().advice(host, request)}"


KNOB = Turbo()
