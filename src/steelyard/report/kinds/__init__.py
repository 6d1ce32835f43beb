"""The kinds of answers: a folder each, with its document, text, page, schema and rendering."""

from __future__ import annotations

from steelyard.core.registry import Folder, Registry
from steelyard.report.documents.rendering import Rendering

RENDERINGS: Registry[Rendering] = Registry(
    "rendering", Folder("steelyard.report.kinds", within="rendering"), "steelyard.renderings"
)
