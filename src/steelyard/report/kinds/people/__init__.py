"""The pages of a service's people: signing in, one's account, everyone's, and the audit log."""
