"""The version of Steelyard; what builds the wheel reads it here."""

__version__ = "0.1.0"
