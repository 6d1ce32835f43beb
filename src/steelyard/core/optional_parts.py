"""Packages that measuring and comparing do without, and how they are got."""

from __future__ import annotations

from steelyard.core.errors import MissingCapabilityError

# The package that is imported: the extra of the wheel that brings it, and what takes it.
PARTS = {
    "scipy": ("analyses", "this analysis"),
    "matplotlib": ("plots", "plots as PNG and SVG"),
    "pyarrow": ("parquet", "Parquet and Arrow tables and large tables of levels"),
    "anyio": ("service", "the service"),
    "python_multipart": ("service", "files in the forms of the service"),
    "starlette": ("service", "the service"),
    "uvicorn": ("service", "the service"),
    "joserfc": ("oidc", "signing in by OpenID Connect"),
    "psycopg": ("service", "a service that keeps its data in PostgreSQL"),
}


def missing_part(error: ModuleNotFoundError) -> MissingCapabilityError | None:
    """What to tell where one of them is not there; None where the error is about something else."""
    package = (error.name or "").partition(".")[0]
    if package not in PARTS:
        return None
    extra, what = PARTS[package]
    return MissingCapabilityError(
        f"{package} is not installed, and needed for {what}. Get it: pipx inject steelyard "
        f"{package}, or pip install {package} (the wheel's extra [{extra}]).",
        field=package,
    )
