"""Go a newcomer's way: clone, one command, a page, an experiment of the suite, its answer.

    python -m benchmarks.newcomer
    python -m benchmarks.newcomer --pictures docs/images

The first clones this checkout's last commit into a directory of its own, calls `make serve` there
with a home that nothing was kept in, and leads a real Chromium: it sends what the form begins with,
waits, and reads the answer. It says how long each step took; exit status 1 where all of it takes
ten minutes or more. With `--pictures` the service of this checkout is walked instead, and what one
sees goes into a directory.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.chromium import Chromium, browser

MOST_S = 600.0
_ENDING_S = 60.0
_WIDTH, _TALLEST = 1100, 2400
# How high the picture of a page is where it is taller and its end says nothing more.
_HEIGHTS = {"service-answer": 1150, "service-facets": 900}
_COLOURS = 64
_ROOT = Path(__file__).parent.parent
Seen = Callable[[str], None]


def main(words: Sequence[str] | None = None) -> int:
    """Walk, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--pictures", metavar="DIRECTORY")
    asked = parser.parse_args(words)
    began_s = time.monotonic()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="newcomer-")))
        if asked.pictures:
            checkout = _ROOT
        else:
            checkout = home / "steelyard"
            subprocess.run(["git", "clone", "--quiet", str(_ROOT), str(checkout)], check=True)
            _say(began_s, "cloned")
        address = stack.enter_context(served(checkout, home))
        _say(began_s, "the page is there")
        page = stack.enter_context(browser(home / "browser", home))
        page.is_sized(_WIDTH, 800)
        taken = Path(asked.pictures) if asked.pictures else None

        def seen(name: str) -> None:
            _say(began_s, name)
            if taken is not None:
                _keep(page, taken / f"{name}.png")

        walk(page, address, seen)
    took_s = time.monotonic() - began_s
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s, load = used.ru_utime + used.ru_stime, os.getloadavg()[0]
    print(f"{took_s / 60:.1f} min in all; {MOST_S / 60:.0f} min are allowed")
    print(f"{used_s / 60:.1f} min of processors; the load is {load:.0f}")
    return 0 if asked.pictures or took_s < MOST_S else 1


def walk(page: Chromium, address: str, seen: Seen) -> None:
    """From the first page to the answer of what the form begins with."""
    page.opens(address)
    page.clicks("main a", "Send an experiment")
    page.clicks("button", "plan")
    page.shows("20 trials in 5 blocks on 1 worker")
    seen("service-form")
    page.clicks("button", "send")
    page.shows("bzip2 and xz by optimisation")
    _waits(page, "done: 20 of 20")
    seen("service")
    page.clicks("main a", "The answer")
    page.shows("What does each factor do?")
    page.shows("optimisation: from -O1 to -O2 cpu_time")
    seen("service-answer")
    page.clicks("header a", "The experiment")
    page.clicks("main a", "its facets")
    page.shows("Is it the same everywhere?")
    seen("service-facets")
    page.clicks("main a", "The experiment")
    page.shows("done: 20 of 20")


@contextmanager
def served(checkout: Path, home: Path) -> Iterator[str]:
    """The address of a service that `make serve` runs meanwhile, with its files in `home`."""
    places = {name: str(home / name.lower()) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    places |= {"XDG_CACHE_HOME": str(home / "cache"), "HOME": str(home)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_HERE)}
    told = home / "served"
    with told.open("wb") as output:
        process = subprocess.Popen(
            ["make", "serve", "SERVE=--port 0"],
            cwd=checkout,
            env={**kept, **places},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield _address(process, told)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


# What would make a newcomer's build another one.
_OF_HERE = ("CMAKE_", "CCACHE_", "STEELYARD_", "MAKE", "VIRTUAL_ENV")


def _address(process: subprocess.Popen[bytes], told: Path) -> str:
    deadline_s = time.monotonic() + 2 * MOST_S
    while (found := re.search(r"http://\S+", told.read_text("utf-8", "replace"))) is None:
        if process.poll() is not None or time.monotonic() > deadline_s:
            sys.exit(f"make serve did not come to its page:\n{told.read_text()}")
        time.sleep(0.2)
    return found[0]


def _waits(page: Chromium, text: str) -> None:
    """Until the page, which loads itself anew, says something; longer than a test would."""
    deadline_s = time.monotonic() + MOST_S
    while text not in (page.value("document.body && document.body.innerText") or ""):
        if time.monotonic() > deadline_s:
            sys.exit(f"{text!r} did not come: {page.value('document.body.innerText')}")
        time.sleep(0.5)


def _keep(page: Chromium, path: Path) -> None:
    """Write what a whole page shows, in a window as high as that takes, in few colours."""
    from PIL import Image

    page.is_sized(_WIDTH, 100)
    height = page.value("document.documentElement.scrollHeight")
    page.is_sized(_WIDTH, min(height, _HEIGHTS.get(path.stem, _TALLEST)))
    page.picture(path)
    page.is_sized(_WIDTH, 800)
    with Image.open(path) as whole:
        few = whole.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def _say(began_s: float, what: str) -> None:
    print(f"{time.monotonic() - began_s:6.1f} s  {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
