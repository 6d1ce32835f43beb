"""What profilers promised, beside what was gained."""
