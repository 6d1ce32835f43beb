"""Searches for the revision of a change, kept step by step so that they go on after a kill."""

from __future__ import annotations

import json
import time
from typing import Any

from sqlalchemy import func, insert, select, update

from steelyard.store.database import Store
from steelyard.store.schema import bisection_steps, bisections


class BisectionStore:
    """The searches in a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def begin(self, question: str, specification: dict[str, Any], *, anew: bool = False) -> int:
        """The number of the search that asks `question` and has no answer yet, or of a new one."""
        query = (
            select(bisections.c.id)
            .where(bisections.c.question == question, bisections.c.result.is_(None))
            .order_by(bisections.c.id.desc())
        )
        with self.store.writing() as connection:
            known = None if anew else connection.execute(query).scalars().first()
            if known is not None:
                return known
            row = {
                "question": question,
                "created_unix_s": time.time(),
                "specification": json.dumps(specification),
            }
            made = insert(bisections).values(**row).returning(bisections.c.id)
            return connection.execute(made).scalar_one()

    def steps(self, number: int) -> tuple[dict[str, Any], ...]:
        """What a search has found out so far."""
        query = (
            select(bisection_steps.c.content)
            .where(bisection_steps.c.bisection_id == number)
            .order_by(bisection_steps.c.place)
        )
        with self.store.reading() as connection:
            return tuple(json.loads(text) for text in connection.execute(query).scalars())

    def add_step(self, number: int, content: dict[str, Any]) -> None:
        """Keep one step."""
        chosen = bisection_steps.c.bisection_id == number
        with self.store.writing() as connection:
            count = select(func.count()).select_from(bisection_steps).where(chosen)
            place = connection.execute(count).scalar_one()
            row = {"bisection_id": number, "place": place, "content": json.dumps(content)}
            connection.execute(insert(bisection_steps).values(**row))

    def finish(self, number: int, result: dict[str, Any]) -> None:
        """Keep the answer: the same question begins anew from then on."""
        with self.store.writing() as connection:
            connection.execute(
                update(bisections)
                .where(bisections.c.id == number)
                .values(result=json.dumps(result))
            )
