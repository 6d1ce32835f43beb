"""Each step of the store's schema, by its number; Alembic runs them in order."""
