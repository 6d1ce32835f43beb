"""What trials may ask to be at a level: one file each with an `EXTENSION`, a `Setting`.

The factor of the same name maps a variant to one that asks for it. tests/contracts runs over
everything registered.
"""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.host.setting import Setting

SETTINGS: Registry[Setting] = Registry("setting", "steelyard.host.settings", "steelyard.settings")
