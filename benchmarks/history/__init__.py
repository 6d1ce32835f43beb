"""The numbers of docs/PERFORMANCE.md and docs/history.md about changes along revisions."""
