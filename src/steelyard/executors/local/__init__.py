"""Running trials on this machine: the sources that stand before the launcher, and the launcher."""
