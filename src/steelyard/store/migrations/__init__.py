"""The store's schema by version. Alembic runs `env.py` and the files of `versions/`."""
