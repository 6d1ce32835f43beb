"""The commands of a service: what sends experiments, and what runs their trials."""
