"""Commands on the experiments of the store."""
