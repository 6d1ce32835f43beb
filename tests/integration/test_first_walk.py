"""The walk of docs/first-walk.md, with small budgets."""

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parents[2] / "examples" / "first-walk.sh"
STEPS = 5


def test_every_step_of_the_first_walk_gives_an_answer(user):
    bin_folder = os.path.dirname(sys.executable)
    environment = {
        **user.environment,
        "PATH": f"{bin_folder}:{user.environment['PATH']}",
        "WALK_BUDGET": "60runs",
    }
    done = subprocess.run(
        ["sh", str(SCRIPT)],
        cwd=user.home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    statuses = [line for line in done.stdout.splitlines() if line.startswith("(exit status")]
    assert len(statuses) == STEPS
    # A gate may say no (1); no call is wrong (2), and no trial fails (3).
    assert set(statuses) <= {"(exit status 0)", "(exit status 1)"}
    assert (user.home / "walk.html").stat().st_size < 1_500_000
    assert "gate " in done.stdout
