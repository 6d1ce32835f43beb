"""Send the 6,300 trials of a published comparison by the page of a service, and count what came.

    python -m benchmarks.service_cases --workers 7 --replicates 15

Oliveira (2015), 4.3.1: two programs, five optimisation levels, three link orders, randomised
addresses or not, 15 replicates, seven hosts. The programs are small ones that are really built; one
does not link in the alphabetical order, so that its 1,050 trials there fail with that reason. The
hosts are workers of this machine, each with a lock of its own. Exit status 1 where a trial is
missing, or fails that should not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.service_kills.things import Command, ended, wait_for
from tests.thesis_cases import REASON, small_compressors


def main(words: Sequence[str] | None = None) -> int:
    """Run the whole experiment, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--workers", type=int, default=7)
    parser.add_argument("--replicates", type=int, default=15)
    asked = parser.parse_args(words)
    with (
        tempfile.TemporaryDirectory(prefix="cases-", dir="/tmp") as directory,
        ExitStack() as stack,
    ):
        home = Path(directory)
        server = Command("server", ("serve", "--port", "0", "--no-worker"), home, _own(home, "s"))
        workers = [_worker(home, number) for number in range(asked.workers)]
        stack.enter_context(ended(server, *workers))
        server.revive()
        wait_for(lambda: "http://" in (home / "server.err").read_text(), "the service answers")
        address = (home / "server.err").read_text().partition("steelyard: ")[2].split()[0]
        (running,) = home.glob("data/steelyard/*.service/running.json")
        service = _Api(address, json.loads(running.read_text())["token"])
        for worker in workers:
            worker.revive()
        wait_for(lambda: len(service.gets("workers")["workers"]) == asked.workers, "all are there")
        begun_s = time.monotonic()
        name = service.sends(small_compressors(asked.replicates))
        wait_for(lambda: service.gets(f"experiments/{name}")["state"] == "done", "the end", 7200.0)
        took_s = time.monotonic() - begun_s
        return _told(service.gets(f"experiments/{name}/trials"), asked, took_s)


def _own(home: Path, name: str) -> dict[str, str]:
    """What lets a process be as on a host of its own."""
    own = {"HOME": home, "XDG_DATA_HOME": home / "data", "XDG_CACHE_HOME": home / "cache" / name}
    lock = {"STEELYARD_LOCK": str(home / f"lock-{name}")}
    return {**os.environ, **{key: str(value) for key, value in own.items()}, **lock}


def _worker(home: Path, number: int) -> Command:
    name = f"w{number}"
    words = ("worker", "--name", name, "--directory", str(home / name))
    return Command(name, words, home, _own(home, name))


class _Api:
    """The service by its API, and its form."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Bearer {token}"}

    def gets(self, path: str) -> dict[str, Any]:
        asked = urllib.request.Request(f"{self._address}api/{path}", headers=self._headers)
        with urllib.request.urlopen(asked, timeout=60.0) as answer:
            return json.load(answer)

    def sends(self, text: str) -> str:
        form = urlencode({"ask": "send", "file": text}).encode()
        with urllib.request.urlopen(f"{self._address}service/new", form, timeout=60.0) as answer:
            return str(answer.url.rpartition("/")[2])


def _told(found: dict[str, Any], asked: argparse.Namespace, took_s: float) -> int:
    variants = [dict(each["parameters"]) for each in found["experiment"]["variants"]]
    failed = [each for each in found["trials"] if each["status"] != "ok"]
    where = Counter(
        (variants[each["variant"]]["benchmark"], variants[each["variant"]]["link-order"])
        for each in failed
    )
    reasons = sum(REASON in each["details"].get("error", "") for each in failed)
    print(
        f"{len(found['trials'])} trials in {took_s:.0f} s; failed {dict(where)}, {reasons} say why"
    )
    blocks = asked.workers * asked.replicates
    right = where == {("xz", "alphabetical"): 10 * blocks} and reasons == len(failed)
    return 0 if right and len(found["trials"]) == 60 * blocks else 1


if __name__ == "__main__":
    sys.exit(main())
