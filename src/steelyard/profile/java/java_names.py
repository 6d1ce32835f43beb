"""Names of what is in a Java process beside methods, as all profilers of Java are to give them."""

from __future__ import annotations

import os
import re

# ``Table::find(Key*) [clone .part.0]``, ``adapters(0xb)``: what tells overloads and copies apart.
# Names of Java's methods have none, and what begins with it is ``(anonymous namespace)``.
_ARGUMENTS = re.compile(r"(?<=.)\(.*")
# ``write@@GLIBC_2.2.5``
_VERSION = re.compile(r"@.*")


def machine_name(name: str) -> str:
    """A function of the virtual machine or of a library without what profilers write differently:
    arguments, versions, the folder of a library, brackets around a stub.
    """
    if name.startswith("/"):
        name = os.path.basename(name)
    elif name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return _VERSION.sub("", _ARGUMENTS.sub("", name))
