"""Programs of the suite: named, made ready, run and described."""
