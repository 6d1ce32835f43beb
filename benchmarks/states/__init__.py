"""How well the states of iterations are told, beside known truth and beside a published opinion."""
