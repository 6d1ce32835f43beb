"""What the database of a service must say in the end, asked in SQL alone.

Nothing of Steelyard is imported: what is planned follows from the number of blocks and of trials in
each, and is compared with what the tables hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Each counts what must not be: the answer is 0 where all is well.
QUESTIONS = {
    "places that are planned and not committed": """
        SELECT count(*) FROM generate_series(0, %(places)s - 1) AS spot
        WHERE NOT EXISTS (SELECT 1 FROM committed_trials c WHERE c.position = spot)""",
    "places that are committed and not planned": """
        SELECT count(*) FROM committed_trials WHERE position NOT BETWEEN 0 AND %(places)s - 1""",
    "places that are committed twice": """
        SELECT count(*) FROM (SELECT submission_id, position FROM committed_trials
        GROUP BY submission_id, position HAVING count(*) > 1) AS twice""",
    "experiments whose count is not that of their trials": """
        SELECT count(*) FROM submissions s WHERE s.committed_count <> (
        SELECT count(*) FROM committed_trials c
        WHERE c.submission_id = s.id AND c.position >= 0)""",
    "places whose row and whose trial disagree": """
        SELECT count(*) FROM committed_trials
        WHERE (trial::jsonb ->> 'position')::int <> position""",
    "places that no part has, or two have": """
        SELECT count(*) FROM generate_series(0, %(places)s - 1) AS spot
        WHERE (SELECT count(*) FROM parts p WHERE p.positions::jsonb @> to_jsonb(spot)) <> 1""",
    "trials of another part than their place is in": """
        SELECT count(*) FROM committed_trials c JOIN parts p ON p.id = c.part_id
        WHERE NOT p.positions::jsonb @> to_jsonb(c.position)""",
    "trials that failed": """
        SELECT count(*) FROM committed_trials WHERE trial::jsonb ->> 'status' <> 'ok'""",
    "trials without a time": """
        SELECT count(*) FROM committed_trials
        WHERE coalesce(jsonb_array_length(trial::jsonb -> 'measurements' -> 'wall_time'), 0) < 1""",
    "parts that did not end": "SELECT count(*) FROM parts WHERE state <> 'done'",
    "parts without exactly one attempt that was committed": """
        SELECT count(*) FROM (SELECT p.id FROM parts p LEFT JOIN attempts a
        ON a.part_id = p.id AND a.outcome = 'committed'
        GROUP BY p.id HAVING count(a.id) <> 1) AS odd""",
    "trials of another attempt or worker than was committed": """
        SELECT count(*) FROM committed_trials c JOIN attempts a ON a.part_id = c.part_id
        AND a.outcome = 'committed' WHERE a.attempt <> c.attempt OR a.worker_id <> c.worker_id""",
    "attempts that did not end": "SELECT count(*) FROM attempts WHERE outcome = 'given'",
    "experiments that did not end": "SELECT count(*) FROM submissions WHERE state <> 'done'",
    "blocks in which a level is more often than another": """
        SELECT count(*) FROM (SELECT part_id FROM (
        SELECT part_id, trial::jsonb ->> 'variant' AS variant, count(*) AS many
        FROM committed_trials GROUP BY part_id, variant) AS counted
        GROUP BY part_id HAVING min(many) <> max(many) OR count(*) <> %(variants)s) AS odd""",
    "times that two trials share to the nanosecond": """
        SELECT count(*) FROM (SELECT 1 FROM committed_trials
        GROUP BY trial::jsonb ->> 'started_unix_s', (trial::jsonb -> 'measurements')::text
        HAVING count(*) > 1) AS copied""",
}
ATTEMPTS = "SELECT outcome, count(*) FROM attempts GROUP BY outcome ORDER BY outcome"
DONE = "SELECT count(*) FILTER (WHERE state IN ('done', 'failed')), count(*) FROM parts"
BY_WORKER = """
SELECT w.name, count(*) FROM committed_trials c JOIN workers w ON w.id = c.worker_id
GROUP BY w.name ORDER BY w.name"""


@dataclass(frozen=True)
class Audit:
    """What was found: each question with its count, and the attempts by what came of them."""

    wrong: dict[str, int]
    attempts: dict[str, int]
    by_worker: dict[str, int]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not any(self.wrong.values())


def audited(address: str, place_count: int, variant_count: int) -> Audit:
    """Ask a PostgreSQL database all questions."""
    numbers = {"places": place_count, "variants": variant_count}
    with _connected(address) as connection:
        wrong = {name: _count(connection, words, numbers) for name, words in QUESTIONS.items()}
        attempts = dict(connection.execute(ATTEMPTS).fetchall())
        return Audit(wrong, attempts, dict(connection.execute(BY_WORKER).fetchall()))


def progress(address: str) -> tuple[int, int] | None:
    """Parts that have ended, and all; None where the database is away."""
    import psycopg

    try:
        with _connected(address) as connection:
            row = connection.execute(DONE).fetchone()
            return (row[0], row[1]) if row else None
    except psycopg.Error:
        return None


def _connected(address: str) -> Any:
    import psycopg

    return psycopg.connect(address, connect_timeout=5)


def _count(connection: Any, words: str, numbers: dict[str, int]) -> int:
    return int(connection.execute(words, numbers).fetchone()[0])
