"""A machine made of a folder: its /proc and /sys are files, its system calls act on them."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from steelyard.host.system import Host

BOOT = "11111111-1111-1111-1111-111111111111"
STAT = (
    "{pid} ({name}) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {start} 0 0 0 0 0 0 "
    "0 0 0 0 0 0 0 0 0 0 {cpu} 0 0\n"
)
ALL = (0, 1, 2, 3)
SPACE = "\\040"
KTHREAD_BOUND = 0x04200000


class FakeHost(Host):
    """Four CPUs in two cores, two users' processes, kernel threads, IRQs, swap, services.

    `refuse` maps a path to the errno with which the kernel refuses to have it written,
    `stubborn` holds paths that take a text and keep their own.
    """

    def __init__(self, root: Path, *, superuser: bool = True, cgroup: int = 1) -> None:
        super().__init__(str(root))
        self.superuser = superuser
        self.refuse: dict[str, int] = {}
        self.stubborn: set[str] = set()
        self.tasks: dict[int, tuple[int, ...]] = {}
        self.running_services = {"cron": True, "cups": False}
        self.calls: list[str] = []
        self.cgroup = cgroup
        self.top = "/sys/fs/cgroup/cpuset" if cgroup == 1 else "/sys/fs/cgroup"
        self._make_settings()
        self._make_tasks()
        if cgroup:
            self._make_cgroup()

    @property
    def is_root(self) -> bool:
        return self.superuser

    def put(self, path: str, text: str) -> None:
        """Make the file `path`."""
        where = Path(self.root + path)
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)

    def remove(self, path: str) -> None:
        """Take the file or folder `path` from the machine."""
        where = Path(self.root + path)
        shutil.rmtree(where) if where.is_dir() else where.unlink(missing_ok=True)

    def write(self, path: str, text: str) -> None:
        if path in self.refuse:
            raise OSError(self.refuse[path], os.strerror(self.refuse[path]), path)
        if path in self.stubborn:
            return
        name = os.path.basename(path)
        if name in ("tasks", "cgroup.procs") and path.startswith(self.top):
            self._join(path, int(text))
        elif name == "cgroup.subtree_control":
            self._enable(path, text)
        elif "[" in (self.read(path) or ""):
            words = (self.read(path) or "").replace("[", "").replace("]", "").split()
            super().write(path, " ".join(f"[{w}]" if w == text else w for w in words))
        elif path.endswith("smt/control"):
            super().write(path, text)
            self._switch_threads(text)
        else:
            super().write(path, text.strip())

    def writable(self, path: str) -> bool:
        if path == "/dev/shm":
            return True
        return self.exists(path) and self.superuser and self.refuse.get(path) != errno.EROFS

    def affinity(self, task: int) -> tuple[int, ...]:
        task = task or os.getpid()
        if task not in self.tasks:
            raise ProcessLookupError(errno.ESRCH, "No such process")
        return self.tasks[task]

    def set_affinity(self, task: int, cpus: Sequence[int]) -> None:
        task = task or os.getpid()
        self.affinity(task)
        if not self.superuser and task not in (os.getpid(), 200):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        self.tasks[task] = tuple(cpus)

    def make_directory(self, path: str, mode: int = 0o755) -> None:
        super().make_directory(path, mode)
        if path.startswith(self.top):
            self._fill_group(path, "")

    def remove_directory(self, path: str) -> None:
        where = Path(self.root + path)
        if where.is_dir() and path.startswith(self.top):
            if self.members(path):
                raise OSError(errno.EBUSY, "Device or resource busy", path)
            shutil.rmtree(where)
            return
        super().remove_directory(path)

    def members(self, group: str) -> list[int]:
        """The tasks of a control group."""
        return sorted(int(word) for word in (self.read(f"{group}/tasks") or "").split())

    def swap_on(self, path: str, priority: int) -> None:
        self._refuse_call(f"swapon {path}")
        rows = (self.read("/proc/swaps") or "").splitlines()
        if priority < 0:
            used = [int(row.split()[4]) for row in rows[1:]]
            priority = min([-1, *used]) - 1
        size = "1024 512" if path == "/dev/sda2" else "1024 0"
        row = f"{path.replace(' ', SPACE)} partition {size} {priority}"
        self.put("/proc/swaps", "\n".join([rows[0], *sorted([*rows[1:], row])]))

    def swap_off(self, path: str) -> None:
        self._refuse_call(f"swapoff {path}")
        rows = (self.read("/proc/swaps") or "").splitlines()
        self.put(
            "/proc/swaps",
            "\n".join(row for row in rows if row.split()[0] != path.replace(" ", SPACE)),
        )

    def mount(self, kind: str, target: str, options: str) -> None:
        self._refuse_call(f"mount {kind}")
        text = self.read("/proc/self/mountinfo") or ""
        line = f"99 1 0:99 / {target} rw - {kind} steelyard {options}"
        self.put("/proc/self/mountinfo", f"{text}\n{line}")

    def unmount(self, target: str) -> None:
        lines = (self.read("/proc/self/mountinfo") or "").splitlines()
        left = [line for line in lines if line.split()[4] != target]
        self.put("/proc/self/mountinfo", "\n".join(left))

    def run(self, argv: Sequence[str], timeout_s: float = 60.0) -> tuple[int, str]:
        self.calls.append(" ".join(argv))
        if self.refuse.get(" ".join(argv)):
            return 1, "Job failed"
        _, verb, *rest = argv
        name = rest[-1]
        if verb == "cat":
            return (0 if name in self.running_services else 1), ""
        if verb == "is-active":
            return (0 if self.running_services.get(name) else 3), ""
        self.running_services[name] = verb == "start"
        return 0, ""

    def find_tool(self, name: str) -> str | None:
        return f"/usr/bin/{name}"

    def sync(self) -> None:
        self.calls.append("sync")

    def pause(self, duration_s: float) -> None:
        self.calls.append("pause")

    def _refuse_call(self, call: str) -> None:
        if call in self.refuse:
            raise OSError(self.refuse[call], os.strerror(self.refuse[call]))

    def _make_settings(self) -> None:
        cpu = "/sys/devices/system/cpu"
        for number in range(4):
            core = "0-1" if number < 2 else "2-3"
            self.put(f"{cpu}/cpu{number}/topology/thread_siblings_list", core)
            self.put(f"{cpu}/cpu{number}/thermal_throttle/core_throttle_count", "0")
        settings = {
            f"{cpu}/online": "0-3",
            f"{cpu}/smt/control": "on",
            f"{cpu}/smt/active": "1",
            f"{cpu}/cpufreq/policy0/scaling_governor": "powersave",
            f"{cpu}/cpufreq/policy2/scaling_governor": "schedutil",
            f"{cpu}/intel_pstate/no_turbo": "0",
            "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
            "/sys/kernel/mm/ksm/run": "1",
            "/sys/devices/virtual/workqueue/cpumask": "f",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
            "/sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet",
            "/sys/class/net/eth0/operstate": "up",
            "/proc/sys/kernel/random/boot_id": BOOT,
            "/proc/sys/kernel/osrelease": "6.8.0-41-generic",
            "/proc/sys/kernel/randomize_va_space": "2",
            "/proc/sys/kernel/sched_autogroup_enabled": "1",
            "/proc/sys/kernel/numa_balancing": "1",
            "/proc/sys/kernel/nmi_watchdog": "1",
            "/proc/sys/kernel/sched_rt_runtime_us": "950000",
            "/proc/sys/kernel/perf_event_paranoid": "4",
            "/proc/sys/vm/drop_caches": "0",
            "/proc/cpuinfo": "model name : Fake CPU\nflags : fpu tsc",
            "/proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 500 kB\nCached: 100 kB",
            "/proc/loadavg": "0.10 0.10 0.10 1/100 1234",
            "/proc/uptime": "1000.0 900.0",
            "/proc/stat": "cpu 1 0 1 97 0 0 0 1\n"
            + "\n".join(f"cpu{n} 1000 0 0 9000 0 0 0 0" for n in range(4)),
            "/proc/interrupts": "      CPU0 CPU1 CPU2 CPU3\n 16: 1 2 3 4 IO-APIC eth0\n"
            " LOC: 10 10 10 10 Local timer interrupts\n ERR: 0",
            "/proc/swaps": "Filename Type Size Used Priority\n"
            "/dev/sda2 partition 1024 512 -2\n/swap\\040file partition 1024 0 5",
            "/proc/self/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
            "/proc/self/cgroup": "",
            "/proc/self/ns/net": "",
            "/proc/irq/16/smp_affinity_list": "0-3",
            "/proc/irq/17/smp_affinity_list": "3",
            "/proc/irq/18/smp_affinity_list": "0",
            "/proc/irq/default_smp_affinity": "0000000f",
            "/run/systemd/system/marker": "",
            "/dev/shm/marker": "",
        }
        for path, text in settings.items():
            self.put(path, text)

    def add_task(
        self,
        pid: int,
        name: str,
        parent: int = 1,
        flags: int = 0,
        cpus: tuple[int, ...] = (0, 1, 2, 3),
    ) -> None:
        """Start a process."""
        stat = STAT.format(
            pid=pid, name=name, parent=parent, flags=flags, ticks=7, start=pid * 10, cpu=0
        )
        self.put(f"/proc/{pid}/stat", stat)
        self.put(f"/proc/{pid}/task/{pid}/stat", stat)
        self.tasks[pid] = cpus

    def _make_tasks(self) -> None:
        self.add_task(1, "init")
        self.add_task(2, "kthreadd", 0, 0x00200000)
        self.add_task(30, "ksoftirqd/3", 2, KTHREAD_BOUND, (3,))
        self.add_task(100, "a (strange) name")
        self.add_task(200, "pinned", cpus=(2, 3))
        self.add_task(300, "in a group")
        self.add_task(os.getpid(), "steelyard")

    def _make_cgroup(self) -> None:
        version = {1: "cgroup cgroup rw,cpuset", 2: "cgroup2 cgroup2 rw"}[self.cgroup]
        self.put(
            "/proc/self/mountinfo",
            f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / {self.top} rw - {version}",
        )
        groups = [self.top, f"{self.top}/docker", f"{self.top}/user"]
        for group in groups:
            Path(self.root + group).mkdir(parents=True, exist_ok=True)
            self._fill_group(group, "0-3")
        if self.cgroup == 1:
            Path(self.root + f"{self.top}/docker/inner").mkdir()
            self._fill_group(f"{self.top}/docker/inner", "2-3")
            self.put("/proc/self/cgroup", "3:cpuset:/user\n0::/")
            self.put(f"{self.top}/cpuset.cpus", "0-3")
        else:
            self.put(f"{self.top}/cgroup.controllers", "cpuset cpu memory")
            self.put(f"{self.top}/cgroup.subtree_control", "cpu")
            self.remove(f"{self.top}/cpuset.mems")
            self.put("/proc/self/cgroup", "0::/user")
        for task in self.tasks:
            group = {300: f"{self.top}/docker", os.getpid(): f"{self.top}/user"}.get(task, self.top)
            self._join(f"{group}/tasks", task)

    def _fill_group(self, group: str, cpus: str) -> None:
        for name in ("tasks", "cgroup.procs"):
            if not self.exists(f"{group}/{name}"):
                self.put(f"{group}/{name}", "")
        enabled = self.cgroup == 1 or "cpuset" in (
            self.read(f"{self.top}/cgroup.subtree_control") or ""
        )
        if enabled and not self.exists(f"{group}/cpuset.cpus"):
            self.put(f"{group}/cpuset.cpus", cpus)
        if self.cgroup == 1:
            self.put(f"{group}/cpuset.mems", "0")

    def _enable(self, path: str, text: str) -> None:
        enabled = set((self.read(path) or "").split())
        enabled = enabled | {text[1:]} if text[0] == "+" else enabled - {text[1:]}
        super().write(path, " ".join(sorted(enabled)))
        for name in self.names(self.top):
            group = f"{self.top}/{name}"
            if not self.exists(f"{group}/tasks"):
                continue
            if "cpuset" in enabled and not self.exists(f"{group}/cpuset.cpus"):
                self.put(f"{group}/cpuset.cpus", "")
            elif "cpuset" not in enabled:
                self.remove(f"{group}/cpuset.cpus")

    def _join(self, path: str, task: int) -> None:
        if task not in self.tasks:
            raise ProcessLookupError(errno.ESRCH, "No such process")
        if task in (2, 30) and task in self.members(self.top):
            raise OSError(errno.EINVAL, "Invalid argument", path)
        target = os.path.dirname(path)
        for folder, _, _ in os.walk(self.root + self.top):
            group = folder.removeprefix(self.root)
            self._set_members(group, [m for m in self.members(group) if m != task])
        self._set_members(target, [*self.members(target), task])

    def _set_members(self, group: str, members: list[int]) -> None:
        text = "\n".join(map(str, sorted(members)))
        self.put(f"{group}/tasks", text)
        self.put(f"{group}/cgroup.procs", text)

    def _switch_threads(self, control: str) -> None:
        is_on = control == "on"
        self.put("/sys/devices/system/cpu/smt/active", "1" if is_on else "0")
        self.put("/sys/devices/system/cpu/online", "0-3" if is_on else "0,2")
        if not is_on:
            # What the kernel does not undo when the CPUs come back.
            self.put("/proc/irq/17/smp_affinity_list", "0-2")
            if self.cgroup == 1:
                self.put(f"{self.top}/docker/inner/cpuset.cpus", "2")


def snapshot(host: FakeHost) -> dict[str, object]:
    """Everything that a knob can have changed."""
    files: dict[str, object] = {}
    for folder, names, entries in os.walk(host.root):
        names.sort()
        where = folder.removeprefix(host.root)
        files[where] = tuple(names)
        for entry in entries:
            files[f"{where}/{entry}"] = (host.read(f"{where}/{entry}") or "").split()
    return {"files": files, "tasks": dict(host.tasks), "services": dict(host.running_services)}
