"""Changes along revisions, and the alarms that they come to."""
