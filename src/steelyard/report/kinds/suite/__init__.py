"""Programs of the suite: what there is, and what came of fetching, building and running them."""
