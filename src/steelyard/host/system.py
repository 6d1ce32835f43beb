"""The machine as knobs see it: the kernel's files and the few system calls beside them."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.core.go_between import run_between
from steelyard.host.system_files import HostFiles

if TYPE_CHECKING:
    import subprocess

# In the environment of processes that are to be found again, also after a crash.
MARK_VARIABLE = "STEELYARD_MARK"
# One that is killed may have been starting another.
_END_ROUNDS = 20
# <linux/swap.h>: the priority is in the low 15 bits when SWAP_FLAG_PREFER is set.
SWAP_FLAG_PREFER = 0x8000


class Host(HostFiles):
    """This machine. Tests replace it by one whose calls act on a folder."""

    def __init__(self, root: str = "") -> None:
        super().__init__(root)
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def is_root(self) -> bool:
        """Whether system-wide settings may be changed."""
        return os.geteuid() == 0

    def boot_id(self) -> str:
        """A name for the time since the last start of the machine."""
        return self.read("/proc/sys/kernel/random/boot_id") or ""

    def process_start(self, pid: int) -> int | None:
        """Start of process `pid` in clock ticks since boot (proc(5), stat field 22).

        With the boot it tells a process from a later one with the same number.
        """
        stat = self.read(f"/proc/{pid}/stat")
        if not stat:
            return None
        # The name is in parentheses and may itself hold spaces and parentheses.
        return int(stat.rpartition(")")[2].split()[19])

    def affinity(self, task: int) -> tuple[int, ...]:
        """The CPUs that the thread `task` may use."""
        return tuple(sorted(os.sched_getaffinity(task)))

    def set_affinity(self, task: int, cpus: Sequence[int]) -> None:
        """Let the thread `task` use `cpus` only."""
        os.sched_setaffinity(task, cpus)

    def make_directory(self, path: str, mode: int = 0o755) -> None:
        """Make the folder `path`; one that is there already is fine."""
        try:
            os.mkdir(self.root + path, mode)
        except FileExistsError:
            if not os.path.isdir(self.root + path):
                raise

    def remove_directory(self, path: str) -> None:
        """Remove the empty folder `path`; one that is gone already is fine."""
        try:
            os.rmdir(self.root + path)
        except FileNotFoundError:
            return

    def remove_tree(self, path: str) -> None:
        """Remove the folder `path` and all in it; one that is gone already is fine."""
        import shutil

        if os.path.isdir(self.root + path) and not os.path.islink(self.root + path):
            shutil.rmtree(self.root + path)

    def swap_on(self, path: str, priority: int) -> None:
        """Start swapping to `path`. The kernel gives negative priorities itself."""
        flags = SWAP_FLAG_PREFER | priority if priority >= 0 else 0
        _check(_libc().swapon(os.fsencode(path), flags), path)

    def is_own_area(self, path: str) -> bool:
        """Whether a swap area is root's, and no link, and others may not write it."""
        try:
            status = os.lstat(self.root + path)
        except FileNotFoundError:
            return True  # Then it cannot be swapped to either.
        plain = stat.S_ISREG(status.st_mode) or stat.S_ISBLK(status.st_mode)
        return plain and status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH

    def swap_off(self, path: str) -> None:
        """Bring everything back from `path` and stop swapping to it."""
        _check(_libc().swapoff(os.fsencode(path)), path)

    def mount(self, kind: str, target: str, options: str) -> None:
        """Mount an empty file system of `kind` on the folder `target`."""
        result = _libc().mount(
            b"steelyard", os.fsencode(target), kind.encode(), 0, options.encode()
        )
        _check(result, target)

    def mount_of(self, path: str) -> str:
        """Where the file system that holds `path` is mounted."""
        path = os.path.realpath(path)
        while not os.path.ismount(path):
            path = os.path.dirname(path)
        return path

    def make_sparse_file(self, path: str, size_bytes: int) -> None:
        """Make the file `path` of this size, without anything in it yet."""
        fd = os.open(self.root + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(fd, size_bytes)
        finally:
            os.close(fd)

    def remove_file(self, path: str) -> None:
        """Remove the file `path`; one that is gone already is fine."""
        try:
            os.unlink(self.root + path)
        except FileNotFoundError:
            return

    def copy_tree(self, source: str, target: str) -> None:
        """Copy what is in the folder `source` into the folder `target`."""
        import shutil

        shutil.copytree(self.root + source, self.root + target, symlinks=True, dirs_exist_ok=True)

    def start_marked(self, argv: Sequence[str], mark: str, *, announces: bool) -> bool:
        """Start a process that `marked` finds again; whether it lives.

        One that `announces` writes a line when it has begun, and is waited for.
        """
        import subprocess

        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if announces else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, MARK_VARIABLE: mark},
            start_new_session=True,
        )
        self._started.append(process)
        if process.stdout is None:
            return process.poll() is None
        with process.stdout as pipe:
            return bool(pipe.readline())

    def marked(self, mark: str) -> list[int]:
        """The living processes that `start_marked` started with `mark`, and their children."""
        wanted = f"{MARK_VARIABLE}={mark}".encode()
        found: list[int] = []
        for name in self.names("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"{self.root}/proc/{name}/environ", "rb") as file:
                    variables = file.read().split(b"\0")
            except OSError:
                # Ended meanwhile, or another user's.
                continue
            if wanted in variables:
                found.append(int(name))
        return found

    def end_marked(self, mark: str) -> None:
        """End the processes that `start_marked` started with `mark`, also in former sessions."""
        for _ in range(_END_ROUNDS):
            processes = self.marked(mark)
            for pid in processes:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            for process in self._started:
                if process.pid in processes:
                    process.wait()
            if not processes:
                break
        self._started = [process for process in self._started if process.poll() is None]

    def unmount(self, target: str) -> None:
        """Take away what is mounted on `target`, also while it is in use."""
        detach = 2  # MNT_DETACH, <sys/mount.h>
        _check(_libc().umount2(os.fsencode(target), detach), target)

    def run(self, argv: Sequence[str], timeout_s: float = 60.0) -> tuple[int, str]:
        """Run a tool of the system; its exit status and all that it printed."""
        with tempfile.TemporaryFile() as output, open(os.devnull, "rb") as nothing:
            streams = (nothing.fileno(), output.fileno(), output.fileno())
            try:
                status = run_between(argv, os.environb, streams, timeout_s=timeout_s)
            except FileNotFoundError:
                return 127, f"{argv[0]} is not installed"
            except TimeoutError:
                return 124, f"{argv[0]} did not end within {timeout_s:.0f} s"
            output.seek(0)
            return status, output.read().decode("utf-8", "replace").strip()

    def find_tool(self, name: str) -> str | None:
        """Where the program `name` is; folders for administrators are searched too."""
        import shutil

        return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

    def sync(self) -> None:
        """Write what the page cache holds to the disks."""
        os.sync()

    def pause(self, duration_s: float) -> None:
        """Let `duration_s` pass between two samples."""
        time.sleep(duration_s)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, path: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
