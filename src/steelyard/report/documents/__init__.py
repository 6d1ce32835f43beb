"""What all documents share: the version of the schema, the schemas, and how a kind is shown."""
