"""The worker of this machine, as a process beside the service."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from steelyard.app.service.child_command import child_command, child_environment

_ENDING_S = 10.0


@contextmanager
def local_worker(
    address: str, token: str, directory: str, name: str, say: Callable[[str], None]
) -> Iterator[None]:
    """Run a worker meanwhile; what it runs when this ends is lost, and given out again.

    `say` is told if it ends before.
    """
    argv = child_command("worker", "--name", name, "--directory", directory)
    # Everyone on a machine can read the words of a command, and the address has the secret in it.
    environment = child_environment(STEELYARD_SERVER=address, STEELYARD_TOKEN=token)
    # A process group of its own: Ctrl-C in the terminal is the server's, which then ends this.
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        process_group=0,
    )
    ending = threading.Event()

    def watch() -> None:
        """Pass on what it says, but not what its own end makes it say."""
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                text = line.decode("utf-8", "replace").strip().removeprefix("steelyard: ")
                if text and not ending.is_set():
                    say(text)
        status = process.wait()
        if not ending.is_set():
            say(f"the worker of this machine ended with status {status}: nothing is run here now")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ending.set()
        process.terminate()
        try:
            process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        watcher.join(_ENDING_S)
