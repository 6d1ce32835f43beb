"""Runs migrations on the connection, and in the transaction, that the caller has opened."""

from alembic import context

from steelyard.service.service_schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
context.run_migrations()
