"""An analysis of a table of trials."""
