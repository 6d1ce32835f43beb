"""A form with files, as browsers send it (multipart/form-data, RFC 7578), read as it comes in."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from steelyard.core.errors import DataError, SteelyardError, UsageError
from steelyard.core.full_disk import is_full
from steelyard.web.service.sent_body import body_length

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartParser

MULTIPART = "multipart/form-data"
# A file that is too large is read on and thrown away, so that its sender sees the form again with
# all that was typed. Beyond this many times the limit nothing more is read.
_READ_ON = 4
_HEADERS_OF_PART = ("content-disposition",)


@dataclass(frozen=True)
class SentFile:
    """A file of a form.

    Parameters
    ----------
    name : str
        What its sender calls it; no path.
    path : str
        Where it lies, until the form has been answered.
    fault : SteelyardError or None
        Why it does not lie there.
    """

    name: str
    path: str = ""
    fault: SteelyardError | None = None


@dataclass(frozen=True)
class FormLimits:
    """What a form may be.

    Parameters
    ----------
    field_count, fields_bytes : int
        Of all fields but files.
    file_bytes : int
        Of a file.
    """

    field_count: int
    fields_bytes: int
    file_bytes: int


@dataclass
class SentForm:
    """What has come in of a form."""

    fields: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: dict[str, SentFile] = field(default_factory=dict[str, SentFile])


@dataclass(frozen=True)
class _Event:
    """What the parser has found: the head of a part, some of its data, its end, or the form's."""

    kind: str
    data: bytes = b""
    name: str = ""
    file_name: str | None = None


@asynccontextmanager
async def sent_form(
    request: Request,
    limits: FormLimits,
    room: Callable[[int], str],
    may_send: Callable[[dict[str, list[str]]], bool],
) -> AsyncIterator[SentForm]:
    """The form of a request; its files are there within the block alone.

    Parameters
    ----------
    request : Request
    limits : FormLimits
    room : callable
        Makes a directory for a file of that many bytes.
    may_send : callable
        Whether the fields that came before a file allow it: no file is kept otherwise.

    Raises
    ------
    DataError
        It is larger than the limits, or damaged.
    """
    reader = _Reader(limits, room, may_send, body_length(request, limits.file_bytes))
    try:
        await reader.read(request)
        yield reader.form
    finally:
        await run_in_threadpool(reader.close)


class _Reader:
    """Takes a form apart, and writes its file."""

    def __init__(
        self,
        limits: FormLimits,
        room: Callable[[int], str],
        may_send: Callable[[dict[str, list[str]]], bool],
        size_bytes: int,
    ) -> None:
        self.form = SentForm()
        self._limits, self._room, self._may_send = limits, room, may_send
        self._size_bytes = min(size_bytes, limits.file_bytes)
        self._head = _Event("head")
        self._text = bytearray()
        self._text_bytes, self._count, self._file_bytes = 0, 0, 0
        self._directory = ""
        self._file: BinaryIO | None = None

    async def read(self, request: Request) -> None:
        """Read the body to its end."""
        from python_multipart.exceptions import MultipartParseError

        found: list[_Event] = []
        parser = _parser(request.headers.get("content-type", ""), found)
        read, is_whole = 0, False
        async for chunk in request.stream():
            read += len(chunk)
            if read > _READ_ON * self._limits.file_bytes + self._limits.fields_bytes:
                raise DataError(f"An archive has at most {self._limits.file_bytes >> 20} MiB.")
            try:
                parser.write(chunk)
            except MultipartParseError:
                raise DataError("The form is damaged: send it again.") from None
            for event in found:
                await self._take(event)
                is_whole = is_whole or event.kind == "end"
            found.clear()
        if not is_whole:
            raise DataError("The form did not come whole: send it again.")

    async def _take(self, event: _Event) -> None:
        if event.kind == "head":
            self._begin(event)
            if event.file_name:
                await run_in_threadpool(self._begin_file, event)
        elif event.kind == "data" and self._head.file_name is None:
            self._add_text(event.data)
        elif event.kind == "data" and self._file is not None:
            await run_in_threadpool(self._add_to_file, event.data)
        elif event.kind == "part":
            await run_in_threadpool(self._end)

    def _begin(self, event: _Event) -> None:
        self._head = event
        self._text.clear()
        self._count += 1
        if self._count > self._limits.field_count:
            raise DataError(f"A form has at most {self._limits.field_count} fields.")

    def _begin_file(self, event: _Event) -> None:
        if self._directory:
            raise DataError("A form has one file at most.")
        name = (event.file_name or "").replace("\\", "/").rpartition("/")[2]
        if not self._may_send(self.form.fields):
            fault = UsageError("The form is not of a page of this browser.")
            self.form.files[event.name] = SentFile(name, fault=fault)
            return
        try:
            self._directory = self._room(self._size_bytes)
        except SteelyardError as error:
            self.form.files[event.name] = SentFile(name, fault=error)
            return
        path = os.path.join(self._directory, "archive")
        self._file = open(path, "xb")  # noqa: SIM115 - closed with its part, or by close()
        self.form.files[event.name] = SentFile(name, path)

    def _add_text(self, data: bytes) -> None:
        self._text_bytes += len(data)
        if self._text_bytes > self._limits.fields_bytes:
            raise DataError(f"A form has at most {self._limits.fields_bytes >> 20} MiB.")
        self._text += data

    def _add_to_file(self, data: bytes) -> None:
        assert self._file is not None
        self._file_bytes += len(data)
        if self._file_bytes > self._limits.file_bytes:
            most = self._limits.file_bytes >> 20
            self._refuse(DataError(f"An archive has at most {most} MiB.", field="archive"))
            return
        try:
            self._file.write(data)
        except OSError as error:
            if not is_full(error):
                raise
            self._refuse(UsageError("The service's disk is full: no package can be taken."))

    def _refuse(self, fault: SteelyardError) -> None:
        """Throw away what came of the file, and say why; the rest of the form is read on."""
        name = self.form.files[self._head.name].name
        self.form.files[self._head.name] = SentFile(name, fault=fault)
        self._discard()

    def _end(self) -> None:
        if self._head.file_name is None:
            text = self._text.decode("utf-8", "replace")
            self.form.fields.setdefault(self._head.name, []).append(text)
        elif self._file is not None:
            try:
                self._file.close()
                self._file = None
            except OSError:
                self._refuse(UsageError("The service's disk is full: no package can be taken."))

    def close(self) -> None:
        """Take away what was written."""
        self._discard()
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)

    def _discard(self) -> None:
        """Close and remove the file; its last bytes have no place on a full disk."""
        if self._file is not None:
            file, self._file = self._file, None
            with suppress(OSError):
                file.close()
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self._directory, "archive"))


def _parser(content_type: str, found: list[_Event]) -> MultipartParser:
    """A parser that appends what it finds."""
    from python_multipart.exceptions import MultipartParseError
    from python_multipart.multipart import MultipartParser, parse_options_header

    # What is wrong with a form is said to its sender, and is nothing for the journal.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    headers: dict[str, bytes] = {}
    name, value = bytearray(), bytearray()

    def header_end() -> None:
        if (key := name.decode("latin-1").lower()) in _HEADERS_OF_PART:
            headers[key] = bytes(value)
        name.clear()
        value.clear()

    def headers_finished() -> None:
        _, told = parse_options_header(headers.get("content-disposition", b""))
        headers.clear()
        file_name = told.get(b"filename")
        found.append(
            _Event(
                "head",
                b"",
                told.get(b"name", b"").decode("utf-8", "replace"),
                None if file_name is None else file_name.decode("utf-8", "replace"),
            )
        )

    def part_data(data: bytes, start: int, end: int) -> None:
        found.append(_Event("data", data[start:end]))

    boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
    try:
        return MultipartParser(
            boundary,
            {
                "on_header_field": lambda data, start, end: name.extend(data[start:end]),
                "on_header_value": lambda data, start, end: value.extend(data[start:end]),
                "on_header_end": header_end,
                "on_headers_finished": headers_finished,
                "on_part_data": part_data,
                "on_part_end": lambda: found.append(_Event("part")),
                "on_end": lambda: found.append(_Event("end")),
            },
        )
    except (MultipartParseError, ValueError):
        raise DataError("The form is damaged: send it again.") from None
