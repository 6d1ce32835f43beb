"""An apt of our own beside the system's: its archives with their source packages, as any user.

The system's configuration is read and never touched. Keys, proxies, mirrors and whatever else it
says hold here too; only the lists and the cache are ours, and ``deb`` lines become ``deb-src``.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator

from steelyard.core.errors import FetchError
from steelyard.core.private_file import private_opener
from steelyard.suite.tool_command import run_tool, tool

UPDATE_AFTER_S = 24 * 3600.0
_ONE_LINE = re.compile(r"^\s*deb(-src)?\s+(\[[^\]]*\]\s+)?(\S+)(\s.*)$")
_STAMP = "updated"


class AptDirectory:
    """Lists of source packages in a directory of the user's own. `failure` is why the last update
    did not reach every archive.

    Parameters
    ----------
    root : str
        The directory.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.failure: FetchError | None = None
        self.apt = tool("apt-get", "apt", "Fetching source packages of Debian")

    def options(self) -> list[str]:
        """What makes apt use this directory."""
        places = {
            "Dir::Etc::sourcelist": os.devnull,
            "Dir::Etc::sourceparts": os.path.join(self.root, "sources"),
            "Dir::State": os.path.join(self.root, "state"),
            "Dir::State::lists": os.path.join(self.root, "lists"),
            "Dir::Cache": os.path.join(self.root, "cache"),
            "Acquire::Languages": "none",
            "APT::Sandbox::User": "root",
            "Acquire::Retries": "1",
            # Without a network some machines answer nothing at all.
            **dict.fromkeys(("Acquire::http::Timeout", "Acquire::https::Timeout"), "15"),
            # Else an archive that cannot be reached is only warned of.
            "APT::Update::Error-Mode": "any",
        }
        return [word for name, value in places.items() for word in ("-o", f"{name}={value}")]

    def update(self) -> None:
        """Read the archives' lists of source packages anew.

        Raises
        ------
        FetchError
            No list could be had.
        """
        for place in ("sources", "state", "lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.root, place), exist_ok=True)
        self._write_sources()
        self.failure = None
        try:
            run_tool([self.apt, *self.options(), "update"], self.root)
        except FetchError as error:  # One archive of several may be out of reach.
            self.failure = error
        if not self.has_lists():
            failure = self.failure
            reason = failure.message if failure else "the archives offer no source packages"
            raise FetchError(f"No list of Debian's source packages could be fetched: {reason}.")
        if self.failure is not None:
            return  # Next time may be better.
        with open(os.path.join(self.root, _STAMP), "w"):
            pass

    def has_lists(self) -> bool:
        """Whether any list of source packages is there, of whatever age."""
        place = os.path.join(self.root, "lists")
        names = os.listdir(place) if os.path.isdir(place) else []
        return any(name.rpartition("_")[2].startswith("Sources") for name in names)

    def is_fresh(self) -> bool:
        """Whether the lists are of today, and of the sources as they are configured."""
        try:
            age_s = time.time() - os.path.getmtime(os.path.join(self.root, _STAMP))
        except FileNotFoundError:
            return False
        return age_s < UPDATE_AFTER_S and self._written_sources() == dict(self._sources())

    def _written_sources(self) -> dict[str, str]:
        place = os.path.join(self.root, "sources")
        found: dict[str, str] = {}
        for name in sorted(os.listdir(place)):
            with open(os.path.join(place, name)) as file:
                found[name] = file.read()
        return found

    def _write_sources(self) -> None:
        place = os.path.join(self.root, "sources")
        for name in os.listdir(place):
            os.unlink(os.path.join(place, name))
        for name, text in self._sources():
            # An address may have a password in it, as the file that it is from may have.
            with open(os.path.join(place, name), "w", opener=private_opener) as file:
                file.write(text)

    def _sources(self) -> Iterator[tuple[str, str]]:
        """Our own source lists by their names."""
        others = self._other_archives()
        for number, path in enumerate(_source_lists()):
            with open(path, errors="replace") as file:
                text = file.read()
            if path.endswith(".sources"):
                found = "\n\n".join(_stanzas(text, others))
            else:
                found = "\n".join(_lines(text, others))
            if found:
                suffix = ".sources" if path.endswith(".sources") else ".list"
                yield f"{number:02}{suffix}", found + "\n"

    def _other_archives(self) -> set[str]:
        """Addresses of archives that say they are not Debian's: they offer none of its sources."""
        form = "$(REPO_URI) $(ORIGIN)"
        told = run_tool(
            [self.apt, "indextargets", "--format", form, "Created-By: Packages"], self.root
        )
        rows = [line.split(None, 1) for line in told.splitlines()]
        return {row[0] for row in rows if len(row) == 2 and "Debian" not in row[1]}


def _source_lists() -> list[str]:
    """The system's files, and those that the user added for the suite alone."""
    config = tool("apt-config", "apt", "Reading apt's configuration")
    told = run_tool(
        [config, "shell", "F", "Dir::Etc::sourcelist/f", "D", "Dir::Etc::sourceparts/d"], "/"
    )
    named = dict(re.findall(r"^(\w)='(.*)'$", told, re.MULTILINE))
    found = [named["F"]] if os.path.isfile(named.get("F", "")) else []
    own = os.environ.get("XDG_CONFIG_HOME", "")
    base = own if os.path.isabs(own) else os.path.expanduser("~/.config")
    for place in (named.get("D", ""), os.path.join(base, "steelyard", "suite", "sources.list.d")):
        if os.path.isdir(place):
            names = sorted(os.listdir(place))
            found += [os.path.join(place, n) for n in names if n.endswith((".list", ".sources"))]
    return found


def _is_other(address: str, others: set[str]) -> bool:
    return address.rstrip("/") + "/" in others


def _lines(text: str, others: set[str]) -> Iterator[str]:
    seen: set[str] = set()
    for line in text.splitlines():
        match = _ONE_LINE.match(line)
        if match is None or _is_other(match[3], others):
            continue
        made = f"deb-src {match[2] or ''}{match[3]}{match[4]}"
        if made not in seen:
            seen.add(made)
            yield made


def _stanzas(text: str, others: set[str]) -> Iterator[str]:
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if line.strip() and line[0] != "#"]
        fields = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.*)$", "\n".join(lines), re.MULTILINE))
        addresses = fields.get("URIs", "").split()
        if not addresses or fields.get("Enabled", "yes").lower() in ("no", "false"):
            continue
        if all(_is_other(address, others) for address in addresses):
            continue
        yield "\n".join(
            "Types: deb-src" if line.lower().startswith("types:") else line for line in lines
        )
