"""Commands that weigh programs: measure, compare, resume."""
