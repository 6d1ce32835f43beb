"""Addresses of commits on the pages of the hosts that keep repositories."""

from __future__ import annotations

import re
from urllib.parse import quote

from steelyard.core.errors import UsageError

_ADDRESS = re.compile(
    r"(?:https?://|ssh://)?(?:[^@/\s]+@)?(?P<host>[\w.-]+)(?::\d+)?[:/](?P<path>[\w.~/-]+?)(?:\.git)?/?"
)
# GitLab and Codeberg answer /commit/ too; Bitbucket says /commits/.
_PATHS = {"bitbucket.org": "commits"}
PLACE = "{revision}"


def commit_link(repository: str, revision: str, template: str | None = None) -> str:
    """The address of a commit's page; empty where none is known.

    Parameters
    ----------
    repository : str
        The name of the repository: the address of its origin.
    revision : str
    template : str, optional
        An address with ``{revision}`` in it, in place of the one that follows from the repository.
    """
    if template is not None:
        return template.replace(PLACE, quote(revision, safe=""))
    if repository.startswith("/"):
        return ""
    found = _ADDRESS.fullmatch(repository)
    if found is None or "." not in found["host"]:
        return ""
    part = _PATHS.get(found["host"], "commit")
    return f"https://{found['host']}/{found['path']}/{part}/{quote(revision, safe='')}"


def checked_template(template: str | None) -> str | None:
    """A template that leads to a page.

    Raises
    ------
    UsageError
        It has no ``{revision}``, or is no address of http.
    """
    if template is not None and (
        PLACE not in template or not template.startswith(("https://", "http://"))
    ):
        raise UsageError(
            f"--link takes an address with {PLACE} in it, such as "
            f"https://example.org/commit/{PLACE}; it got {template!r}.",
            field="--link",
        )
    return template
