"""The input of the program: what stands for ``{input}`` in its command."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant
from steelyard.factors.factor import Factor, any_text

_PLACE = "{input}"


def _apply(variant: Variant, level: str) -> Variant:
    launch = variant.launch
    stdin = None if launch.stdin_file is None else launch.stdin_file.replace(_PLACE, level)
    argv = tuple(word.replace(_PLACE, level) for word in launch.argv)
    if argv == launch.argv and stdin == launch.stdin_file:
        raise UsageError(
            f"The factor input has no place in {variant.name}: write {_PLACE} in its command or "
            "standard input.",
            field="factor",
        )
    return replace(variant, launch=replace(launch, argv=argv, stdin_file=stdin))


EXTENSION = Factor(
    name="input",
    description="What stands for {input} in the command or the standard input.",
    part="launch",
    normal=any_text,
    apply=_apply,
)
