"""Change points by Apache Otava and by ruptures, in an environment of their own.

Otava 0.8 pins numpy, so it gets build/otava with its own packages, made once by pip.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENVIRONMENT = Path(__file__).resolve().parents[2] / "build" / "otava"
PACKAGES = ("apache-otava==0.8.0", "ruptures==1.1.10")
# Runs inside that environment: no import of ours.
_PROGRAM = """
import json, sys, time
import numpy as np
asked = json.load(sys.stdin)
def otava(values):
    from otava.series import Metric, Series
    names = {"m": Metric(1, 1.0)}
    series = Series("t", None, list(range(len(values))), names, {"m": values}, {})
    return [int(c.index) for c in series.analyze().change_points["m"]]
def pelt(values):
    import ruptures
    signal = np.array(values)
    spread = 1.4826 * np.median(np.abs(np.diff(signal))) / 2 ** 0.5 or 1.0
    fitted = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(signal / spread)
    return [int(end) for end in fitted.predict(pen=asked["penalty"] * np.log(len(signal)))[:-1]]
find = {"otava": otava, "pelt": pelt}[asked["tool"]]
find([1.0, 2.0, 1.0, 2.0] * 20)
begun = time.process_time()
found = [find(values) for values in asked["tracks"]]
print(json.dumps({"found": found, "cpu_s": time.process_time() - begun}))
"""


def make_environment() -> Path:
    """The Python of the environment; installs it if it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return python


def changes_by(
    tool: str, tracks: Sequence[NDArray[np.float64]], penalty: float = 3.0
) -> tuple[list[list[int]], float]:
    """The indexes that ``otava`` or ``pelt`` finds in each track, and the processor time of that.

    Otava has its defaults (windows of 50, p below 0.001, any magnitude). PELT of ruptures has the
    mean model on values in units of their noise, with a penalty of `penalty` log n.
    """
    asked: dict[str, Any] = {
        "tool": tool,
        "penalty": penalty,
        "tracks": [track.tolist() for track in tracks],
    }
    done = subprocess.run(
        [str(make_environment()), "-c", _PROGRAM],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
    )
    answer = json.loads(done.stdout)
    return answer["found"], float(answer["cpu_s"])
