"""Numbers in addresses: those that every database can look for."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class _Number(Convertor[int]):
    # Whole numbers of a database end at 2147483647; a longer one names nothing.
    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


def know_path_numbers() -> None:
    """Let routes have parts such as ``{token:number}``; any other address is not found."""
    register_url_convertor("number", _Number())
