"""Runs migrations on the connection, and in the transaction, that the caller has opened."""

from alembic import context

from steelyard.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
