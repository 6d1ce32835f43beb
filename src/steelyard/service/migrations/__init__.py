"""The schema of a service by version. Alembic runs `env.py` and the files of `versions/`."""
