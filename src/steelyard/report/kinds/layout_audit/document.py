"""The `layout-audit` document: what of a program moves, and why the rest does not."""

from __future__ import annotations

from typing import Any

from steelyard.layout.audit import LayoutAudit, SampledCode
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def layout_audit_document(audit: LayoutAudit, sampled: SampledCode | None = None) -> dict[str, Any]:
    """The document of kind ``layout-audit``; `sampled`: where a profile's samples lie."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "layout-audit",
            "program": audit.path,
            "parts": list(audit.parts),
            "interval_s": audit.interval_ns / 1e9,
            "moving_ratio": audit.moving_ratio,
            "moving_bytes": audit.moving_bytes,
            "code_bytes": audit.code_bytes,
            "own_malloc": audit.own_malloc,
            "unnamed": [
                {"section": section, "size_bytes": count} for section, count in audit.unnamed
            ],
            "samples": None if sampled is None else _samples(sampled),
            "functions": [
                {
                    "name": function.name,
                    "address": function.address,
                    "size_bytes": function.size_bytes,
                    "moves": function.moves,
                    "reason": function.exempted,
                    "block_count": function.block_count,
                    "whole_reason": function.whole,
                }
                for function in audit.functions
            ],
            "padded_count": audit.padded_count,
            "unpadded": [{"name": name, "reason": reason} for name, reason in audit.unpadded],
        }
    )


def _samples(sampled: SampledCode) -> dict[str, Any]:
    return {
        "count": sampled.count,
        "moving": sampled.moving_count,
        "runtime": sampled.runtime_count,
        "staying": [{"name": name, "samples": count} for name, count in sampled.staying],
        "elsewhere": [{"name": name, "samples": count} for name, count in sampled.elsewhere],
    }
