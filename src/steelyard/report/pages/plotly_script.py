"""The script that draws plots in a browser, from the installed distribution of plotly."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os

from steelyard.core.errors import MissingCapabilityError


def plotly_script() -> str:
    """The text of ``plotly.min.js``. Plotly itself, which is slow to load, is not imported.

    Raises
    ------
    MissingCapabilityError
        Plotly is not installed, or without its script.
    """
    found = importlib.util.find_spec("plotly")
    for folder in (found and found.submodule_search_locations) or ():
        path = os.path.join(folder, "package_data", "plotly.min.js")
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                # An inline script ends at the first '</script', wherever that stands.
                return file.read().replace("</script", "<\\/script")
    raise MissingCapabilityError(
        "The page needs the script of plotly (plotly/package_data/plotly.min.js), which is not "
        "installed here. `python3 -m pip install plotly` installs it; `--format markdown` needs "
        "none.",
        field="--format",
    )


def script_hash(text: str) -> str:
    """The source expression by which a content security policy allows an inline script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
