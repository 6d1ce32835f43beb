"""A knob of the program alone: it changes how that is started, and nothing of the machine."""

from __future__ import annotations

from typing import Any

from steelyard.host.knob import Knob
from steelyard.host.system import Host


class LaunchKnob(Knob):
    """A knob with nothing to set on the machine, to check there or to put back."""

    changes_host = False

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        return ()

    def verify(self, host: Host, wanted: Any) -> str | None:
        return None

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        return None
