"""What a service does: takes experiments, gives parts to workers, answers from their trials."""
