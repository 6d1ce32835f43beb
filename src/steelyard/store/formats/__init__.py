"""The file formats: one file each, and those of other distributions."""

from steelyard.core.registry import Registry
from steelyard.store.file_format import FileFormat

FORMATS: Registry[FileFormat] = Registry(
    kind="file format",
    folder="steelyard.store.formats",
    entry_point_group="steelyard.file_formats",
)
