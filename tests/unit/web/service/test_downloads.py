"""An experiment is downloaded in every format that can be written; the others are one sentence."""

from __future__ import annotations

import pytest

from steelyard.store.formats import FORMATS


@pytest.mark.parametrize("kind", FORMATS.names())
def test_each_format_is_a_file_or_one_sentence(shared, kind, tmp_path, monkeypatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    identifier = shared.sent(shared.account("ada"), "public")
    got = shared.browser().get(f"/service/{identifier}/download/{kind}")
    if FORMATS.get(kind).write is None:
        assert (got.status, got.text) == (
            422,
            f"The format {kind!r} can be read, not written.\n",
        )
    else:
        assert got.status == 200
        assert f'filename="{identifier}.' in got.header("content-disposition")
        assert got.header("content-length") == str(len(got.data))
    assert not list(scratch.iterdir())
