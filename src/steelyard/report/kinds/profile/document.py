"""The `profile` document."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.profiles.profile_answer import ProfileAnswer
from steelyard.analysis.profiles.profile_samples import independent_count
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def profile_document(answer: ProfileAnswer) -> dict[str, Any]:
    """The document of kind ``profile``."""
    recorded = answer.recorded
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "profile",
            "file": recorded.path,
            "samples": len(answer.samples.functions),
            "independent_samples": independent_count(answer.samples),
            "unwatched_ratio": recorded.unwatched_ratio,
            "lost": recorded.lost_count,
            "recording": {**recorded.header, **recorded.summary},
            "threads": [
                {
                    "thread": share.thread,
                    "process": share.process,
                    "name": share.name,
                    "samples": share.sample_count,
                    "share": share.share.as_json(),
                }
                for share in answer.threads
            ],
            "functions": [
                {
                    "name": share.frame.name,
                    "object": share.frame.object,
                    "samples": share.sample_count,
                    "share": share.share.as_json(),
                    "total_share": None
                    if share.total_share is None
                    else share.total_share.as_json(),
                    "kernel_ratio": share.kernel_ratio,
                    "inlined_ratio": share.inlined_ratio,
                }
                for share in answer.functions
            ],
            "sampling": [
                {
                    "source": item.source,
                    "intervals": item.interval_count,
                    "mean_s": item.mean_ns * 1e-9,
                    "variation": item.variation,
                    "autocorrelation": list(item.autocorrelation),
                    "bound": item.bound,
                }
                for item in answer.health
            ],
            "warnings": [caution.as_json() for caution in answer.cautions],
        }
    )
