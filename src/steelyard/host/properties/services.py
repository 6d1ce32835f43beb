"""Services: daemons that wake up while something is measured.

Only those that are named and that run are stopped, and only these are started again.
"""

from __future__ import annotations

import re
from typing import Any

from steelyard.core.errors import HostError
from steelyard.host.knob import Knob, Request, Severity
from steelyard.host.system import Host

# systemd.unit(5): what a name may be made of.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:\\-]*")
# What these do is periodic, and nobody waits for it (Larres 2012, appendix A, names most).
_DISTURBING = (
    "anacron",
    "atd",
    "avahi-daemon",
    "cron",
    "crond",
    "cups",
    "irqbalance",
    "packagekit",
    "unattended-upgrades",
)


class Services(Knob):
    """Named services, stopped through systemd or the init scripts."""

    name = "services"
    title = "services"
    wanted_text = "none that wake up by themselves"
    order = 15

    def available(self, host: Host, request: Request) -> str | None:
        if not request.services:
            return "no service was named (--stop-service NAME)"
        if not host.is_root:
            return "only root may stop services"
        if _manager(host) is None:
            return "neither systemctl nor service is installed"
        absent = [name for name in request.services if not _known(host, name)]
        return f"there is no service {absent[0]!r}" if absent else None

    def read(self, host: Host, request: Request) -> Any:
        return {name: _runs(host, name) for name in request.services}

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        return dict.fromkeys(previous, False)

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        for name in wanted:
            if _runs(host, name):
                _order(host, name, "stop")
        return ()

    def verify(self, host: Host, wanted: Any) -> str | None:
        running = [name for name in wanted if _runs(host, name)]
        return f"the service {running[0]} still runs" if running else None

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        for name in (*previous, *wanted):
            if not _NAME.fullmatch(name):
                return f"{name!r} is no name of a service"
        return None

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        failures: list[str] = []
        for name in reversed(list(previous)):
            if not previous[name] or _runs(host, name):
                continue
            try:
                _order(host, name, "start")
            except HostError as error:
                failures.append(error.message)
        if failures:
            raise HostError("; ".join(failures))

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        # A service that ran and was not started by the boot had been started by hand.
        return previous

    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        from steelyard.host.tasks import processes, task_stat

        names = {stat.name for pid in processes(host) if (stat := task_stat(host, pid))}
        found = [name for name in _DISTURBING if name in names or name[:15] in names]
        return (", ".join(found), "info") if found else ("none of the usual ones", "ok")

    def advice(self, host: Host, request: Request) -> str:
        value, _ = self.assess(host, request)
        first = (value or "NAME").split(",")[0]
        return f"steelyard host quiet --stop-service {first} -- CMD"


def _manager(host: Host) -> str | None:
    # systemctl is there on machines that were started by something else, and useless on them.
    if host.exists("/run/systemd/system") and host.find_tool("systemctl"):
        return "systemctl"
    return "service" if host.find_tool("service") else None


def _known(host: Host, name: str) -> bool:
    if _manager(host) == "systemctl":
        return host.run(["systemctl", "cat", name])[0] == 0
    return host.exists(f"/etc/init.d/{name}")


def _runs(host: Host, name: str) -> bool:
    if _manager(host) == "systemctl":
        return host.run(["systemctl", "is-active", "--quiet", name])[0] == 0
    return host.run([host.find_tool("service") or "service", name, "status"])[0] == 0


def _order(host: Host, name: str, verb: str) -> None:
    if _manager(host) == "systemctl":
        status, output = host.run(["systemctl", verb, name])
    else:
        status, output = host.run([host.find_tool("service") or "service", name, verb])
    if status != 0:
        last = output.splitlines()[-1] if output else f"status {status}"
        raise HostError(f"The service {name} does not {verb}: {last}")


KNOB = Services()
