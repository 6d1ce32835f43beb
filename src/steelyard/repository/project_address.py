"""Which addresses are of one project, whatever the protocol that a clone was made by."""

from __future__ import annotations

import re

# Like git: without a scheme, a colon before any slash ends the host (git-clone(1), GIT URLS).
_SCP = re.compile(r"(?P<host>[^/:]+):(?P<path>[^/].*|/.*)")


def project_of(address: str) -> str:
    """What all addresses of one project have in common: its host and its path there.

    Paths and ``file://`` addresses are themselves.

    Parameters
    ----------
    address : str
        Of an ``origin``, or the path of a repository without one.
    """
    scheme, separator, rest = address.partition("://")
    if separator and scheme.lower() != "file":
        host, _, path = rest.partition("/")
        return _joined(host.rpartition("@")[2].partition(":")[0], path)
    found = None if separator else _SCP.fullmatch(address)
    if found is None:
        return address
    return _joined(found["host"].rpartition("@")[2], found["path"])


def _joined(host: str, path: str) -> str:
    return f"{host.lower()}/{path.strip('/').removesuffix('.git').rstrip('/')}"
