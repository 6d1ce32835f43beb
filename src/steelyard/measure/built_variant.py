"""A variant whose program lies in the directory of a build."""

from __future__ import annotations

import shlex
from dataclasses import replace

from steelyard.core.experiment_spec import Variant

PLACE = "{build}"
VARIABLE = "STEELYARD_BUILD_DIR"
_SHELL = ("/bin/sh", "-c")


def built_variant(variant: Variant, directory: str) -> Variant:
    """`variant` with `directory` in the place of ``{build}``, and in ``STEELYARD_BUILD_DIR``."""
    launch = variant.launch
    environment = [(name, _filled(value, directory)) for name, value in launch.environment]
    return replace(
        variant,
        launch=replace(
            launch,
            argv=_words(launch.argv, directory),
            environment=(*environment, (VARIABLE, directory)),
            working_directory=_filled(launch.working_directory, directory),
            stdin_file=_filled(launch.stdin_file, directory),
        ),
        prepare=None if variant.prepare is None else _words(variant.prepare, directory),
        cleanup=None if variant.cleanup is None else _words(variant.cleanup, directory),
    )


def _words(argv: tuple[str, ...], directory: str) -> tuple[str, ...]:
    shown = shlex.quote(directory) if argv[:2] == _SHELL else directory
    return tuple(word.replace(PLACE, shown) for word in argv)


def _filled(text: str | None, directory: str) -> str | None:
    return None if text is None else text.replace(PLACE, directory)
