"""Results as terminal text, pages, plots and documents. Formats, never computes statistics."""
