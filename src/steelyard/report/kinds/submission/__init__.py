"""Experiments that are sent to a service: what is told of one, and the service's pages."""
