"""How long tests wait for what should come: what never comes fails then, and nothing else does."""

# Far more than a busy machine takes, and less than `faulthandler_timeout`, which ends a run's
# worker: who waits says what did not come.
PATIENCE_S = 300.0
