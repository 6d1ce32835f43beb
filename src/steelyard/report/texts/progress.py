"""The line that shows how far a running experiment is.

It never stands between two trials: it draws at most four times a second, and rich is loaded
only once a run has lasted a second, so that short runs do not pay for it.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from steelyard.core.units import format_duration

if TYPE_CHECKING:
    from rich.live import Live

PATIENCE_S = 1.0
REDRAW_S = 0.25
STATUS_LINE_S = 10.0


class Progress:
    """A live line on a terminal; a status line now and then where output is piped.

    Parameters
    ----------
    stream : text stream
        Where to write; standard error, so that results can be piped.
    enabled : bool
        False: never write anything.
    verbose : bool
        On a stream that is no terminal: write a status line at most every ten seconds.
    """

    def __init__(self, stream: TextIO, enabled: bool = True, verbose: bool = False) -> None:
        self._stream = stream
        self._terminal = enabled and stream.isatty()
        self._enabled = enabled and (self._terminal or verbose)
        self._started_s = time.monotonic()
        self._drawn_s = self._started_s
        self._live: Live | None = None

    def update(
        self,
        done_blocks: int,
        look_text: str = "",
        expected_left_s: float | None = None,
        *,
        expected_blocks: int | None = None,
        failed: int = 0,
        noun: str = "block",
    ) -> None:
        """Show how far the experiment is. Cheap when it is not yet time to draw.

        Parameters
        ----------
        done_blocks : int
            Blocks that are complete.
        look_text : str
            The live estimate, such as ``wall_time 451.2 ms ± 1.8 %``.
        expected_left_s : float, optional
            Expected time left, where it can be told.
        expected_blocks : int, optional
            Blocks in all, where that is known.
        failed : int
            Failed trials so far.
        noun : str
            What is counted: ``run`` where a block is one.
        """
        if not self._enabled:
            return
        now_s = time.monotonic()
        wait_s = REDRAW_S if self._terminal else STATUS_LINE_S
        if now_s - self._started_s < PATIENCE_S or now_s - self._drawn_s < wait_s:
            return
        self._drawn_s = now_s
        text = progress_text(
            done_blocks, look_text, expected_left_s, expected_blocks, failed, noun=noun
        )
        self._draw(f"{text} · {format_duration(now_s - self._started_s)} so far")

    def _draw(self, text: str) -> None:
        if not self._terminal:
            self._stream.write(f"steelyard: {text}\n")
            self._stream.flush()
            return
        from rich.text import Text

        if self._live is None:
            self._live = _live_line(self._stream)
            self._live.start()
        self._live.update(Text(text, style="cyan", no_wrap=True, overflow="ellipsis"), refresh=True)

    def close(self) -> None:
        """Take the line away. The terminal is as it was before; may be called again."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _live_line(stream: TextIO) -> Live:
    from rich.console import Console
    from rich.live import Live

    # auto_refresh would start a thread that wakes while programs are measured.
    console = Console(file=stream, highlight=False, emoji=False)
    return Live(
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def progress_text(
    done_blocks: int,
    look_text: str,
    expected_left_s: float | None,
    expected_blocks: int | None,
    failed: int,
    *,
    noun: str = "block",
) -> str:
    """The line itself, such as ``block 12 of 31 · ± 1.8 % of 1.0 % · about 12.3 s left``."""
    total = "" if expected_blocks is None else f" of about {max(expected_blocks, done_blocks)}"
    parts = [f"{noun} {done_blocks}{total}" if done_blocks else f"the first {noun} is under way"]
    if look_text:
        parts.append(look_text)
    if failed:
        parts.append(f"{failed} failed")
    if expected_left_s is not None:
        parts.append(f"about {format_duration(max(0.0, expected_left_s))} left")
    return " · ".join(parts)
