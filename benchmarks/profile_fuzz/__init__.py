"""Every reader of profiles against inputs that were damaged at random."""
