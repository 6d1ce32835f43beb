"""How long pages of a service take, with many results and many people at once.

    python -m benchmarks.page_loading
    python -m benchmarks.page_loading --results 100000 --users 100 --postgresql

A service with experiments of that many results in all runs as `steelyard serve` does, on this
machine alone. Each person has signed in and looks at a page every 5 s, as pages that are open load
themselves anew; a worker sends a block of one experiment each second, so that its answer is made
anew. Then all ask for one page at one instant, and for the next; in the end fifty download an
experiment, and another person looks at the list meanwhile. The server shares the processors with
those who ask. Exit status 1 where the 95th percentile of a page is 300 ms or more, or the last of
all at one instant.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from sqlalchemy import insert, select, update

from steelyard.app.service.service import Service
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.design.plan_part import plan_part
from steelyard.service.accounts import Identity, add_account
from steelyard.service.part_queue import GivenPart
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.service_schema import attempts, committed_trials, parts, submissions
from steelyard.service.sign_ins import add_sign_in

EXPERIMENTS, VARIANTS, WORKERS = 20, 2, 4
EVERY_S, LIMIT_S = 5.0, 0.3
COMMAND = str(Path(sys.executable).parent / "steelyard")
FILE = """\
[experiment]
name = "does the size of the environment matter?"
seed = {seed}
runs = {runs}

[[benchmark]]
name = "gzip"
command = "gzip -c /usr/bin/perl"

[[factor]]
factor = "environment-size"
levels = [0, 2048]

[hosts]
factors = {{worker = "100%"}}
"""
# How often each page is looked at, of twenty.
PAGES = {
    "service/ID": 7,
    "service": 5,
    "service/ID/answer": 3,
    "service/workers": 2,
    "service/ID/facets": 1,
    "service/new": 1,
    "account": 1,
}

FACETS = "service/ID/facets?x=environment-size&columns=worker&show=means"
DOWNLOADS = 50


def main(words: Sequence[str] | None = None) -> int:
    """Fill a service, look at its pages, and say how long that took."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--experiments", type=int, default=EXPERIMENTS)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="steelyard-")))
        address = _database(stack, directory, postgresql=given.postgresql)
        database = ServiceDatabase(address)
        stack.callback(database.close)
        service = Service(database, str(directory / "packages"))
        known = fill(service, given.results, given.seed, given.experiments)
        cookies = sign_in(service, given.users)
        server = stack.enter_context(serving(directory, address))
        stack.enter_context(sending(service))
        people = People(server.address, known, cookies, given.seed)
        first = asyncio.run(people.first_looks(FACETS))
        before_s = server.processor_s()
        looked = asyncio.run(people.looking(given.seconds))
        spent_s = server.processor_s() - before_s
        at_once = {page: asyncio.run(people.at_once(page)) for page in (*PAGES, FACETS)}
        beside = asyncio.run(people.beside_downloads())
    count = sum(len(times) for times in looked.values())
    print(f"{given.results} results, {given.users} people, {count} pages in {given.seconds:.0f} s")
    print(f"processor time of the server: {1000 * spent_s / count:.1f} ms a page, sending included")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    worst_s = max([_told(page, times) for page, times in sorted(looked.items())])
    worst_s = max(worst_s, _told("first looks at facets", first))
    worst_s = max(worst_s, _told(f"the list beside {DOWNLOADS} downloads", beside))
    print(f"All {given.users} at one instant:")
    last_s = max([_told(page.partition("?")[0], times, 100) for page, times in at_once.items()])
    return 1 if max(worst_s, last_s) >= LIMIT_S else 0


def _told(page: str, times: Sequence[float], percentile: float = 95) -> float:
    """Print the percentiles of a page; the one that is asked for."""
    half, most, worst = np.percentile(times, [50, 95, 100])
    print(
        f"{page:28} {len(times):5} times: median {1000 * half:6.1f} ms, 95 % below "
        f"{1000 * most:6.1f} ms, longest {1000 * worst:6.1f} ms"
    )
    return float(np.percentile(times, percentile))


def _database(stack: ExitStack, directory: Path, *, postgresql: bool) -> str:
    if not postgresql:
        return str(directory / "service.sqlite")
    from tests.postgresql import cluster, fresh_database

    return stack.enter_context(fresh_database(stack.enter_context(cluster()), "pages"))


def fill(service: Service, result_count: int, seed: int, count: int) -> list[str]:
    """Experiments with so many results in all, the last of which goes on; their identifiers."""
    owner = service.access.owner()
    blocks = max(1, result_count // count // VARIANTS // WORKERS)
    return [
        _filled(service, owner, blocks, seed + number, is_open=number == count - 1)
        for number in range(count)
    ]


def _filled(service: Service, owner: Identity, runs: int, seed: int, *, is_open: bool) -> str:
    # A sign of life, without which they are gone after a minute.
    for number in range(WORKERS):
        service.access.enrol(owner, f"host{number}", {"architecture": "x86_64", "cpus": 2})
    text = FILE.format(seed=seed, runs=runs + 1000 * is_open)
    planned = service.submit(owner, text, "e.toml", "shared")
    draw = random.Random(seed)
    with service.database.writing() as connection:
        own = submissions.c.identifier == planned.spec.identifier
        number = connection.execute(select(submissions.c.id).where(own)).scalar_one()
        chosen = select(parts).where(parts.c.submission_id == number).limit(runs * WORKERS)
        done = connection.execute(chosen.order_by(parts.c.id)).all()
        rows: list[dict[str, Any]] = []
        for part in done:
            positions = json.loads(part.positions)
            common = {"submission_id": number, "part_id": part.id, "worker_id": part.worker_id}
            rows += [
                {
                    **common,
                    "position": trial["position"],
                    "attempt": 1,
                    "committed_unix_s": 2.0,
                    "trial": json.dumps(trial),
                }
                for trial in _trials(planned.spec, positions, part.block, draw)
            ]
        connection.execute(insert(committed_trials), rows)
        connection.execute(insert(attempts), [_attempt(part) for part in done])
        sent = parts.c.id.in_([part.id for part in done])
        connection.execute(update(parts).where(sent).values(state="done"))
        state = "running" if is_open else "done"
        ended = {"state": state, "committed_count": len(rows)}
        connection.execute(update(submissions).where(own).values(ended))
    return planned.spec.identifier


def _attempt(part: Any) -> dict[str, Any]:
    return {
        "part_id": part.id,
        "attempt": 1,
        "worker_id": part.worker_id,
        "given_unix_s": 1.0,
        "ended_unix_s": 2.0,
        "outcome": "committed",
    }


def _trials(
    spec: Any, positions: Sequence[int], block: int, draw: random.Random
) -> Iterator[dict[str, Any]]:
    for position, trial in zip(positions, plan_part(spec, positions).trials, strict=True):
        wall_s = 0.1 * (1 + 0.02 * trial.variant) * draw.lognormvariate(0, 0.03)
        yield {
            "position": position,
            "block": block,
            "variant": trial.variant,
            "warmup": False,
            "status": "ok",
            "reason": None,
            "started_unix_s": draw.uniform(0, 1e9),
            "spent_s": 2 * wall_s,
            "measurements": {"wall_time": [wall_s], "cpu_time": [0.98 * wall_s]},
        }


def sign_in(service: Service, count: int) -> list[str]:
    """What the cookies of so many people hold."""
    now_s = time.time()
    with service.database.writing() as connection:
        return [
            add_sign_in(connection, add_account(connection, f"p{one}", "member", now_s), now_s)
            for one in range(count)
        ]


class Server:
    """`steelyard serve` as a process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        said = next(line for line in lines if line.startswith("steelyard: http://"))
        self.address = said.split()[1]
        threading.Thread(target=process.stderr.read, daemon=True).start()

    def processor_s(self) -> float:
        """What it has spent of the processors."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(directory: Path, database: str) -> Iterator[Server]:
    """Serve the database meanwhile."""
    settings = directory / "service.toml"
    settings.write_text("[service]\nsign_in = true\nport = 0\nworker = false\n")
    words = ["serve", "--config", str(settings), "--database", database]
    process = subprocess.Popen(
        [COMMAND, *words, "--store", str(directory / "store.sqlite")],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Server(process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextmanager
def sending(service: Service) -> Iterator[None]:
    """Send a block of the open experiment each second meanwhile."""
    ended = threading.Event()
    token = service.access.enrol(
        service.access.owner(), "host0", {"architecture": "x86_64", "cpus": 2}
    )

    def send() -> None:
        worker, draw = service.access.worker(token), random.Random(2)
        while not ended.wait(1.0):
            given = service.parts.give(worker)
            if isinstance(given, GivenPart):
                service.parts.take(worker, _result(given, draw))

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _result(given: GivenPart, draw: random.Random) -> dict[str, Any]:
    spec = experiment_spec_from_json(json.loads(given.specification))
    block = given.positions[0] // VARIANTS
    trials = list(_trials(spec, given.positions, block, draw))
    about = {"part": given.id, "attempt": given.attempt, "experiment": given.experiment}
    return {**about, "trials": trials, "provenance": {}}


class People:
    """Everyone who looks at the pages, each by a connection of their own."""

    def __init__(self, address: str, known: list[str], cookies: list[str], seed: int) -> None:
        self._url = urlsplit(address)
        self._known = known
        self._cookies = cookies
        self._draw = random.Random(seed)

    async def first_looks(self, page: str) -> list[float]:
        """The time of the first look at a page of each experiment, which nobody has asked for."""
        person = Person(self._url, self._cookies[0])
        return [await person.asks(page.replace("ID", one)) for one in self._known]

    async def looking(self, seconds: float) -> dict[str, list[float]]:
        """The times of each page, where everyone loads one every 5 s; the first look of each
        does not count."""
        times: dict[str, list[float]] = defaultdict(list)
        first = Person(self._url, self._cookies[0])
        for page in PAGES:
            for one in self._known:
                await first.asks(page.replace("ID", one))
        await asyncio.gather(*(self._looks(cookie, seconds, times) for cookie in self._cookies))
        return times

    async def _looks(self, cookie: str, seconds: float, times: dict[str, list[float]]) -> None:
        person = Person(self._url, cookie)
        await asyncio.sleep(self._draw.uniform(0, EVERY_S))
        until_s = time.perf_counter() + seconds
        while time.perf_counter() < until_s:
            page = self._draw.choices(list(PAGES), list(PAGES.values()))[0]
            took_s = await person.asks(page.replace("ID", self._draw.choice(self._known)))
            times[page].append(took_s)
            await asyncio.sleep(max(0.0, EVERY_S - took_s))

    async def at_once(self, page: str) -> list[float]:
        """The time of each, where all load one page at one instant."""
        people = [Person(self._url, cookie) for cookie in self._cookies]
        await asyncio.gather(*(each.asks("service/new") for each in people))
        address = page.replace("ID", self._known[0])
        return list(await asyncio.gather(*(each.asks(address) for each in people)))

    async def beside_downloads(self) -> list[float]:
        """The times of the list of experiments, loaded again and again while many download one."""
        address = f"service/{self._known[0]}/download/csv"
        cookies = itertools.islice(itertools.cycle(self._cookies), DOWNLOADS)
        readers = [Person(self._url, cookie) for cookie in cookies]
        person, times = Person(self._url, self._cookies[0]), list[float]()
        downloads = asyncio.gather(*(each.asks(address) for each in readers))
        while not downloads.done():
            times.append(await person.asks("service"))
            await asyncio.sleep(0.05)
        await downloads
        return times


class Person:
    """One of them."""

    def __init__(self, url: Any, cookie: str) -> None:
        self._url = url
        name = f"steelyard-{url.port}"
        self._headers = f"Host: {url.netloc}\r\nCookie: {name}={cookie}\r\n\r\n"
        self._stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def asks(self, page: str) -> float:
        """Load a page; how long it took, in seconds."""
        began_s = time.perf_counter()
        if self._stream is None:
            self._stream = await asyncio.open_connection(self._url.hostname, self._url.port)
        reader, writer = self._stream
        writer.write(f"GET /{page} HTTP/1.1\r\n{self._headers}".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert " 200 " in head.splitlines()[0], (page, head)
        length = next(line for line in head.splitlines() if line.startswith("content-length"))
        await reader.readexactly(int(length.split(":")[1]))
        if "connection: close" in head:
            self._stream = None
        return time.perf_counter() - began_s


if __name__ == "__main__":
    sys.exit(main())
