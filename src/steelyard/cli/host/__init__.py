"""Commands on this machine: status, quiet, restore, study."""
