"""What other programs import: `import steelyard`. Everything that is public here is documented in
docs/python.md and held by tests/unit/api."""
