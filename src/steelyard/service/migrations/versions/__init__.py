"""Each step of the schema of a service, by its number; Alembic runs them in order."""
