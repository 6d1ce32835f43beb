"""What is wrong with a script of a package, as far as can be seen without running it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.service.package.archive import Package

_SHELLS = ("sh", "bash", "dash", "ksh", "zsh")
_CHECK_TIMEOUT_S = 10.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BEGIN_BYTES = 256
_MOST_SCRIPT_BYTES = 1 << 20
# The first word of a command in a script of a shell.
_COMMAND = re.compile(r"(?:^|[;&|({]|\$\(|`|\b(?:then|do|else|if|while|until|!)\s)\s*([\w./+-]+)")
_NETWORK = re.compile(
    r"\b(curl|wget|git\s+clone|apt(-get)?\s+(-\w+\s+)*(install|update)|pip3?\s+"
    r"install|npm\s+(ci|install)|go\s+(get|mod\s+download)|cargo\s+fetch)\b"
)
_PACKAGES = {
    **{"gcc": "gcc", "cc": "gcc", "g++": "g++", "c++": "g++", "make": "make", "cmake": "cmake"},
    **{"clang": "clang", "javac": "default-jdk-headless", "java": "default-jre-headless"},
    **{"go": "golang-go", "cargo": "cargo", "rustc": "rustc", "gfortran": "gfortran"},
    **{"python3": "python3", "perl": "perl", "node": "nodejs", "ruby": "ruby", "zip": "zip"},
    **{"meson": "meson", "ninja": "ninja-build", "unzip": "unzip", "bc": "bc", "xz": "xz-utils"},
}


class Fault(NamedTuple):
    """One thing about a member: a stable code, and a sentence with what mends it."""

    member: str
    code: str
    message: str


def script_faults(package: Package, folder: str, name: str, root: str) -> Iterator[Fault]:
    """The faults of the script `name` of the package whose files lie in `folder`.

    Parameters
    ----------
    root : str
        The root file system that it will run on, where its interpreter is looked for; empty where
        that is not known.
    """
    member = package.member(name)
    path = os.path.join(folder, name)
    if member is None or not stat.S_ISREG(os.lstat(path).st_mode):
        if member is not None:
            yield Fault(name, "not-a-file", f"{name} is a {member.kind}; it is to be a plain file.")
        return
    if not member.is_executable:
        yield Fault(name, "not-executable", f"{name} may not be executed. chmod +x {name}")
    with open(path, "rb") as file:
        data = file.read(_MOST_SCRIPT_BYTES)
    yield from _text_faults(name, data)
    if root:
        yield from _interpreter_faults(name, path, data, root)


def _text_faults(name: str, data: bytes) -> Iterator[Fault]:
    if data.startswith(b"\xef\xbb\xbf"):
        yield Fault(
            name,
            "byte-order-mark",
            f"{name} begins with a byte order mark, so that its first line is not seen. Save it "
            "without.",
        )
    if not data.startswith(b"\x7fELF") and b"\r\n" in data:
        yield Fault(
            name,
            "line-ends",
            f"{name} has line ends of DOS, which its interpreter takes for a part of words. "
            f"sed -i 's/\\r$//' {name}",
        )


def _interpreter_faults(name: str, path: str, data: bytes, root: str) -> Iterator[Fault]:
    if data.startswith(b"\x7fELF"):
        return
    line = data[:_BEGIN_BYTES].split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    if not line.startswith("#!"):
        yield Fault(
            name,
            "no-interpreter",
            f"{name} does not say who is to run it. Begin it with a line such as #!/bin/sh",
        )
        return
    words = line[2:].split()
    interpreter = words[0] if words else ""
    if os.path.basename(interpreter) == "env" and len(words) > 1:
        wanted = next((word for word in words[1:] if not word.startswith("-")), "")
        interpreter = _found_in(root, wanted) or wanted
    if not interpreter or not _is_in(root, interpreter):
        yield Fault(
            name,
            "interpreter-missing",
            f"{name} is to be run by {interpreter or 'nothing'!r}, which is not there. Name "
            "another, or an image that has it.",
        )
        return
    if os.path.basename(interpreter) in _SHELLS and root == "/":
        yield from _syntax_faults(name, path, interpreter)


def _syntax_faults(name: str, path: str, shell: str) -> Iterator[Fault]:
    """What the shell itself says of the script, which it reads and does not run."""
    try:
        said = subprocess.run(
            [shell, "-n", path],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env={"PATH": _PATH, "LC_ALL": "C"},
            timeout=_CHECK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Fault(name, "unread", f"{shell} cannot read {name}: {type(error).__name__}.")
        return
    if said.returncode != 0:
        text = said.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        told = text.replace(path, name)[:200]
        yield Fault(name, "syntax", f"{os.path.basename(shell)} cannot read {name}: {told}")


def script_notes(folder: str, name: str, *, has_network: bool) -> Iterator[Fault]:
    """What may be missing when the script runs: programs that it calls, the network."""
    path = os.path.join(folder, name)
    if os.path.islink(path) or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        text = file.read(_MOST_SCRIPT_BYTES).decode("utf-8", "replace")
    if not text.startswith("#!") or os.path.basename(text[2:].split("\n")[0].split(" ")[0]) not in (
        *_SHELLS,
    ):
        return
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    called = {found for line in lines for found in _COMMAND.findall(line)}
    for program in sorted(called & _PACKAGES.keys()):
        if shutil.which(program, path=_PATH) is None:
            yield Fault(
                name,
                "program-missing",
                f"{name} calls {program}, which is not on this machine. apt-get install "
                f"{_PACKAGES[program]}",
            )
    asked = None if has_network else _NETWORK.search("\n".join(lines))
    if asked:
        yield Fault(
            name, "network", f"{name} calls '{asked[0]}', which takes the network: --network"
        )


def _found_in(root: str, program: str) -> str | None:
    for folder in _PATH.split(":"):
        if program and _is_in(root, os.path.join(folder, program)):
            return os.path.join(folder, program)
    return None


def _is_in(root: str, path: str) -> bool:
    if not path.startswith("/"):
        return False
    if root == "/":
        return os.access(path, os.X_OK) and os.path.isfile(path)
    # Links of an image are of its own root.
    return os.path.lexists(os.path.join(root, path.lstrip("/")))
