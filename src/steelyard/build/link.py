"""One call of the linker by a build whose layout is randomised.

Started by the wrapper that stands for ``ld``. A call that only asks something, links partially,
is a configure script's trial or has no object of the project goes to the real linker as it is.
Else the objects are read, the randomisations arrange them, the real linker links that, and what
came of it is read back and recorded. A reason not to randomise is recorded too, and the project's
own link done, because the project may only be trying what works; `records.py` judges when the
build has ended.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from steelyard.build.code_layout import Layout, Randomization
from steelyard.build.elf_functions import read_elf_functions
from steelyard.build.link_line import (
    STRIPPING,
    Input,
    LinkLine,
    expand_response_files,
    parse_link_line,
    quote_response,
)
from steelyard.build.modules import (
    ArchiveKeptError,
    ReadModule,
    kind_of,
    loaded_objects,
    own_inputs,
    read_modules,
)
from steelyard.build.randomizations import RANDOMIZATIONS
from steelyard.build.realised_order import disorder, realised_order
from steelyard.build.records import LinkRecord, is_trial, write_record
from steelyard.build.section_script import section_script
from steelyard.build.static_library import NotArchiveError
from steelyard.core.elf_file import NotElfError
from steelyard.core.rng import derive_seed


@dataclass(frozen=True)
class LinkSettings:
    """What the wrapper knows of its build.

    Parameters
    ----------
    directory, records : str
        That of the build, and where records go.
    seed : int
    randomize : tuple of str
    linker : tuple of str
        The words of the real linker; empty to ask the compiler driver which it would call.
    direct_linker : tuple of str
        Those for calls that come from no driver; empty for the first in ``PATH``.
    seeds : mapping of str to int
        Of single randomisations, in the place of `seed`.
    """

    directory: str
    records: str
    seed: int
    randomize: tuple[str, ...]
    linker: tuple[str, ...] = ()
    direct_linker: tuple[str, ...] = ()
    seeds: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass
class _Link:
    settings: LinkSettings
    linker: tuple[str, ...]
    line: LinkLine
    work: str
    notes: list[str] = field(default_factory=list[str])

    @property
    def output(self) -> str:
        root = os.path.realpath(self.settings.directory)
        return os.path.relpath(os.path.realpath(self.line.output), root)


def link(program: str, args: Sequence[str], settings_file: str) -> int:
    """Do what the call ``program args`` of a linker asks for, and give its exit status."""
    with open(settings_file, encoding="utf-8") as file:
        said = json.load(file)
    settings = LinkSettings(
        said["directory"],
        said["records"],
        said["seed"],
        tuple(said["randomize"]),
        tuple(said["linker"]),
        tuple(said["direct_linker"]),
        said["seeds"],
    )
    linker = settings.linker or find_linker(program, settings.direct_linker)
    line = parse_link_line(expand_response_files(args), kind_of)
    inputs = own_inputs(line, settings.directory)
    with tempfile.TemporaryDirectory(prefix="steelyard-link-") as work:
        call = _Link(settings, linker, line, work)
        if inputs and not line.partial and not is_trial(call.output):
            return _randomized(call, inputs)
    return os.execv(linker[0], [*linker, *args])


def find_linker(program: str, direct: tuple[str, ...]) -> tuple[str, ...]:
    """The real linker of the name of the wrapper `program`: the one that the compiler driver would
    have called; where none did, `direct`, or the first in ``PATH``."""
    name = os.path.basename(program)
    driver = os.environ.get("STEELYARD_DRIVER", "").split("\n")
    if driver == [""] and direct and name == "ld":
        return direct
    if driver != [""]:
        # The driver that called us has told its parts to look in our own directory first.
        outside = {key: value for key, value in os.environ.items() if key != "COMPILER_PATH"}
        asked = subprocess.run(
            [*driver, f"-print-prog-name={name}"],
            capture_output=True,
            text=True,
            check=False,
            env=outside,
        )
        path = asked.stdout.strip()
        if os.path.isabs(path) and not _is_ours(path, program):
            return (path,)
    found = shutil.which(name)
    if found is None or _is_ours(found, program):
        sys.stderr.write(f"{name}: there is no such linker on this machine\n")
        raise SystemExit(1)
    return (found,)


def _is_ours(path: str, program: str) -> bool:
    return os.path.realpath(os.path.dirname(path)) == os.path.realpath(os.path.dirname(program))


def _randomized(call: _Link, inputs: Sequence[Input]) -> int:
    chosen = [RANDOMIZATIONS.get(name) for name in call.settings.randomize]
    chosen.sort(key=lambda each: each.orders != "objects")
    record = LinkRecord(call.output, call.linker[0])
    try:
        replaced, modules = _modules(call, inputs)
    except (NotElfError, NotArchiveError, OSError) as error:
        return _plain(call, record, f"its objects cannot be read: {error or 'not ELF'}")
    if not modules:
        return _plain(call, record)
    asked = Layout(tuple(each.module for each in modules))
    units = _units(asked, chosen)
    alone = (f"{name} has nothing to order" for name, count in units.items() if count < 2)
    record = replace(record, units=units, notes=(*call.notes, *alone))
    reason = refusal(call.line, modules, chosen)
    if reason:
        return _plain(call, record, reason)
    layout = arranged(asked, chosen, call.settings, call.output)
    words = call.line.with_objects([each.path for each in layout.modules], replaced)
    if layout.order:
        script = os.path.join(call.work, "order.ld")
        with open(script, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(section_script(layout.order))
        words = (*words, "-T", script)
    return _linked(call, words, layout, record)


def _linked(call: _Link, words: Sequence[str], layout: Layout, record: LinkRecord) -> int:
    """Link the layout, with its symbols so that it can be read back, then as the project wants."""
    with_symbols = [word for word in words if word not in STRIPPING]
    ended = _call(call, with_symbols)
    if ended.returncode != 0:
        return _plain(call, record, f"{call.linker[0]} would not link it so: {_said(ended)}")
    try:
        with open(call.line.output, "rb") as file:
            program = read_elf_functions(file)
    except (NotElfError, OSError):
        return _plain(call, record, "what was linked is not an ELF file")
    if call.line.stripping:
        ended = _call(call, words)
    sys.stdout.buffer.write(ended.stdout)
    sys.stderr.buffer.write(ended.stderr)
    wrong = disorder(program, layout)
    if wrong:
        record = replace(record, refusal=f"the linker did not keep the order asked for: {wrong}")
    write_record(call.settings.records, record, realised_order(program), layout)
    return ended.returncode


def _plain(call: _Link, record: LinkRecord, reason: str | None = None) -> int:
    """Link as the project asked, and record the reason if that works: a failure is its own."""
    ended = subprocess.run(_command(call, call.line.args), check=False)
    if ended.returncode == 0:
        write_record(call.settings.records, replace(record, refusal=reason))
    return ended.returncode


def arranged(
    layout: Layout, chosen: Sequence[Randomization], settings: LinkSettings, output: str
) -> Layout:
    """`layout` after all randomisations, each with a seed of its own for this output."""
    for each in chosen:
        seed = settings.seeds.get(each.name, settings.seed)
        layout = each.arrange(layout, derive_seed(seed, each.name, output))
    return layout


def refusal(
    line: LinkLine, modules: Sequence[ReadModule], chosen: Sequence[Randomization]
) -> str | None:
    """Why a link cannot be randomised so, in words; None where it can be tried."""
    lto = [each.module.label for each in modules if each.lto]
    if lto:
        return (
            f"{_names(lto)} for link-time optimisation, where the compiler decides the order: "
            "build without -flto"
        )
    if all(each.orders == "objects" for each in chosen):
        return None
    if line.script:
        return f"the project places sections itself by a linker script ({line.script})"
    if line.order_option:
        return f"the project orders sections itself ({line.order_option})"
    whole = [each.module.label for each in modules if each.compiled_whole]
    if whole:
        return f"{_names(whole)} without -ffunction-sections, so that its functions stay together"
    return None


def _names(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")
    return f"{shown} {'was' if len(labels) == 1 else 'were'} compiled"


def _units(layout: Layout, chosen: Sequence[Randomization]) -> dict[str, int]:
    """How many things each randomisation has to order; with one there is only one order."""
    sections = len(layout.placed())
    return {
        each.name: len(layout.modules) if each.orders == "objects" else sections for each in chosen
    }


def _modules(call: _Link, inputs: Sequence[Input]) -> tuple[Sequence[Input], list[ReadModule]]:
    """The inputs that modules take the place of, and these in the order of the plain link."""
    directory = os.path.realpath(call.settings.directory)
    if any(each.kind == "archive" for each in inputs):
        try:
            if not call.line.hides_archives:
                objects = loaded_objects(_trace(call), inputs, directory, call.work)
                return inputs, read_modules(objects)
            call.notes.append("archives keep their place, because --exclude-libs names them")
        except ArchiveKeptError as error:
            call.notes.append(f"archives keep their place: {error}")
    plain = [each for each in inputs if each.kind != "archive"]
    objects = [
        (each.path, os.path.relpath(os.path.realpath(each.path), directory)) for each in plain
    ]
    return plain, read_modules(objects)


def _trace(call: _Link) -> list[str]:
    """The files that the linker reads for the project's own link; none where that fails."""
    ended = _call(call, (*call.line.writing_to(os.path.join(call.work, "trial")), "-t", "-t"))
    text = ended.stdout + b"\n" + ended.stderr
    return text.decode("utf-8", "surrogateescape").splitlines() if ended.returncode == 0 else []


def _call(call: _Link, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(_command(call, words), capture_output=True, check=False)


def _command(call: _Link, words: Sequence[str]) -> list[str]:
    """The real linker's call; its words in a file, since archives' members can make them many."""
    response = os.path.join(call.work, "words")
    with open(response, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(quote_response(words))
    return [*call.linker, f"@{response}"]


def _said(ended: subprocess.CompletedProcess[bytes]) -> str:
    lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else f"exit code {ended.returncode}"
