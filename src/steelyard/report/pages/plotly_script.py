"""The script that draws plots in a browser: the basic bundle of plotly, which comes with Steelyard.

The whole library is four times as large, and every page holds a copy. The bundle draws lines,
points and bars; what else a page shows is made of those. `tools/plotly_basic.sh` put it here.
"""

from __future__ import annotations

import base64
import hashlib
import os

BUNDLE = os.path.join(os.path.dirname(__file__), "plotly-basic.min.js")


def plotly_script() -> str:
    """The text of the bundle, safe inside a page."""
    with open(BUNDLE, encoding="utf-8") as file:
        # An inline script ends at the first '</script', wherever that stands.
        return file.read().replace("</script", "<\\/script")


def script_hash(text: str) -> str:
    """The source expression by which a content security policy allows an inline script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
