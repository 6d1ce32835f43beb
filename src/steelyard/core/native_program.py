"""The native programs that the package brings along."""

from __future__ import annotations

import os

from steelyard.core.errors import MissingCapabilityError

NATIVE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_native")
_BUILT = (
    "In a checkout, `make native` builds it; a wheel brings it along: "
    "`pip install --force-reinstall steelyard`."
)


def native_program(
    file: str,
    what: str,
    *,
    variable: str | None = None,
    advice: str = _BUILT,
    field: str | None = None,
) -> str:
    """The path of one of them, or of what an environment variable names in its place.

    Parameters
    ----------
    file : str
        Its name in the package.
    what : str
        What it is called in a message: ``"the sampler"``.
    variable : str, optional
        The environment variable that names another.
    advice : str
        How it is installed.
    field : str, optional
        The option that takes it.

    Raises
    ------
    MissingCapabilityError
        It was not built, or may not be run.
    """
    path = (variable and os.environ.get(variable)) or os.path.join(NATIVE, file)
    # What a program loads has no need to be executable.
    mode = os.R_OK if ".so" in file else os.X_OK
    if not os.access(path, mode):
        raise MissingCapabilityError(
            f"{what[0].upper()}{what[1:]} is not installed at {path}. {advice}", field=field
        )
    return path
