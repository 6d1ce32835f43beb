"""The words of Steelyard as types. Imports nothing else of the project."""
