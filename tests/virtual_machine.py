"""A virtual machine that really boots: Debian's kernel in QEMU by emulation, on this host's files.

Its root file system is this host's, read-only; one directory it shares and writes. What runs in it
is a script there. Sockets and pipes have no place in what it shares: they can lie on its disk,
which is mounted at /mnt and outlives its boots. No time that was measured in it means anything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE_S

KERNEL = os.environ.get("STEELYARD_TEST_KERNEL", "build/test-kernel")
# In the order in which they need each other; those that a kernel has built in are not there.
_MODULES = (
    *("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci"),
    *("netfs", "fscache", "9pnet", "9pnet_virtio", "9p", "failover", "net_failover", "virtio_net"),
    # The environment of a trusted package lies on a file system in a file.
    *(
        "loop",
        "overlay",
        "crc16",
        "crc32c_generic",
        "libcrc32c",
        "mbcache",
        "jbd2",
        "ext4",
        "virtio_blk",
    ),
)
# Of its disk, which is sparse.
_DISK_BYTES = 1 << 30
_TMPFS = ("tmp", "run", "var/tmp", "root", "mnt")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The service of the host is on the same address in the machine as outside.
_FORWARD = """\
import os, socket, threading
listening = socket.create_server(("127.0.0.1", {port}))
def copied(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
while True:
    one = listening.accept()[0]
    other = socket.create_connection(("10.0.2.2", {port}))
    for pair in ((one, other), (other, one)):
        threading.Thread(target=copied, args=pair, daemon=True).start()
"""
_INIT = """\
#!/busybox sh
export PATH=/bin
/busybox mkdir -p /bin /proc /sys /dev /host
/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in {modules}; do [ ! -e /$module.ko ] || insmod /$module.ko; done
ip link set lo up
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro root /host
for name in {folders}; do mount -t tmpfs tmpfs /host/$name; done
for name in proc sys dev; do mount --rbind /$name /host/$name; done
mount -t cgroup2 cgroup /host/sys/fs/cgroup
mkdir -p /host{share}
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=mmap share /host{share}
mount -t ext4 /dev/vda /host/mnt
cp /busybox /host/run/busybox
exec switch_root /host /bin/sh {share}/begin.sh
"""
# The root is one by a mount, as on a real host: containers enter each other's by it.
_BEGIN = """\
/bin/sh {share}/boot.sh
sync
/run/busybox poweroff -f
"""


def why_no_machine() -> str:
    """What is missing for a virtual machine; empty where nothing is."""
    lacking = [
        name for name in ("qemu-system-x86_64", "busybox", "mkfs.ext4") if not shutil.which(name)
    ]
    if lacking:
        return f"apt-get install qemu-system-x86 busybox-static e2fsprogs (no {', '.join(lacking)})"
    if not (Path(KERNEL) / "vmlinuz").exists():
        return f"no kernel in {KERNEL}: make test-machines fetches one"
    return ""


@dataclass
class VirtualMachine:
    """One that runs.

    Parameters
    ----------
    process : Popen
        Of QEMU; it ends when the machine is switched off.
    console : Path
        What its kernel printed.
    """

    process: subprocess.Popen[bytes]
    console: Path

    @property
    def boots(self) -> int:
        """How often it has booted."""
        return self.console.read_text("utf-8", "replace").count("Linux version")

    @property
    def panics(self) -> int:
        """How often its kernel has panicked."""
        return self.console.read_text("utf-8", "replace").count("Kernel panic")


@contextmanager
def virtual_machine(share: Path, port: int, script: str) -> Iterator[VirtualMachine]:
    """Run `script` after each boot of a machine that sees `share` under the same name, and the port
    of this host; it is switched off when the script ends."""
    (share / "forward.py").write_text(_FORWARD.format(port=port))
    forward = f"python3 -S {share}/forward.py &\n"
    (share / "boot.sh").write_text(f"export PATH={_PATH}\n{forward}{script}")
    (share / "begin.sh").write_text(_BEGIN.format(share=share))
    initial = _initial_files(share)
    with (share / "disk").open("wb") as disk:
        disk.truncate(_DISK_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(share / "disk")], check=True)
    console = share / "console.txt"
    process = subprocess.Popen(_command(share, initial, console), stdin=subprocess.DEVNULL)
    try:
        yield VirtualMachine(process, console)
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def _command(share: Path, initial: Path, console: Path) -> Sequence[str]:
    files = "local,security_model=none,multidevs=remap"
    return (
        *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "1024", "-nographic"),
        *("-nodefaults", "-serial", f"file:{console}", "-kernel", f"{KERNEL}/vmlinuz"),
        *("-initrd", str(initial), "-append", "console=ttyS0 panic=1 loglevel=6 noresume"),
        *("-virtfs", f"{files},path=/,mount_tag=root,readonly=on"),
        *("-virtfs", f"{files},path={share},mount_tag=share"),
        *("-drive", f"file={share}/disk,format=raw,if=virtio"),
        *("-netdev", "user,id=net,restrict=off", "-device", "virtio-net-pci,netdev=net,romfile="),
    )


def _initial_files(share: Path) -> Path:
    """The file system that the kernel begins with."""
    folder = share / "initial"
    folder.mkdir()
    busybox = shutil.which("busybox")
    assert busybox is not None
    shutil.copy(busybox, folder / "busybox")
    for name in _MODULES:
        for path in Path(KERNEL).glob(f"**/{name}.ko"):
            shutil.copy(path, folder / f"{name}.ko")
    init = folder / "init"
    init.write_text(_INIT.format(modules=" ".join(_MODULES), folders=" ".join(_TMPFS), share=share))
    init.chmod(0o755)
    made = share / "initial.cpio"
    names = "\n".join(sorted(path.name for path in folder.iterdir()))
    with made.open("wb") as file:
        subprocess.run(
            [busybox, "cpio", "-o", "-H", "newc"],
            input=names.encode(),
            stdout=file,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            check=True,
        )
    return made
