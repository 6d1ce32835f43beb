"""Readings of the reference benchmark on each worker, by which a host that drifts is set aside."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, delete, insert, select, update

from steelyard.analysis.noise.host_drift import HostDrift, host_drift
from steelyard.service.service_schema import host_readings, workers

# As many as a month has at one an hour; the first ones are the baseline and stay.
MOST_READINGS = 750


def add_readings(
    connection: Connection, worker_id: int, readings: Mapping[str, float], now_s: float
) -> None:
    """Keep what a host has measured, in seconds of processor time by the names of benchmarks."""
    rows = [
        {"worker_id": worker_id, "unix_s": now_s, "benchmark": name, "value_s": value}
        for name, value in readings.items()
    ]
    if rows:
        connection.execute(insert(host_readings), rows)


def readings_of(connection: Connection, worker_id: int) -> dict[str, list[float]]:
    """All readings of a host by benchmark, the oldest first."""
    chosen = select(host_readings).where(host_readings.c.worker_id == worker_id)
    found: dict[str, list[float]] = {}
    for row in connection.execute(chosen.order_by(host_readings.c.id)):
        found.setdefault(row.benchmark, []).append(row.value_s)
    return found


def drifts_of(connection: Connection, worker_id: int) -> dict[str, HostDrift]:
    """How a host is beside how it was, by benchmark; without those of too few readings."""
    found = readings_of(connection, worker_id).items()
    drifts = {name: host_drift(values) for name, values in found}
    return {name: drift for name, drift in drifts.items() if drift is not None}


def set_aside(connection: Connection, worker_id: int, drifts: Mapping[str, HostDrift]) -> bool:
    """Put a host that drifts into quarantine, with the reason; whether it does."""
    told = [
        f"{name} takes {drift.ratio:.2f} times as long as it did"
        for name, drift in drifts.items()
        if drift.has_drifted
    ]
    if told:
        reason = f"its reference benchmark drifts: {', '.join(told)}"
        chosen = update(workers).where(workers.c.id == worker_id)
        connection.execute(chosen.values(status="quarantined", reason=reason))
    return bool(told)


def forget_readings(connection: Connection, worker_id: int) -> None:
    """Begin anew: the host is as it is."""
    connection.execute(delete(host_readings).where(host_readings.c.worker_id == worker_id))


def trim_readings(connection: Connection, worker_id: int) -> None:
    """Drop the oldest readings but the baseline, where there are too many."""
    chosen = select(host_readings.c.id).where(host_readings.c.worker_id == worker_id)
    numbers = connection.execute(chosen.order_by(host_readings.c.id)).scalars().all()
    if len(numbers) > MOST_READINGS:
        # The first of each benchmark are the baseline.
        first, last = MOST_READINGS // 3, len(numbers) - MOST_READINGS // 3
        old = numbers[first:last]
        connection.execute(delete(host_readings).where(host_readings.c.id.in_(old)))
