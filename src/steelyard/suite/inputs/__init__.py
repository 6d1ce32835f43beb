"""The built-in makers of inputs: one module each, with its `EXTENSION`."""

from steelyard.core.registry import Registry
from steelyard.suite.generator import Generator

GENERATORS: Registry[Generator] = Registry(
    "input generator", "steelyard.suite.inputs", "steelyard.inputs"
)
