"""Whether a profiler's claims hold when acted upon."""
