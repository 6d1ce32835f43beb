"""Linear models of factorial experiments: coding, least squares, and what they rest on."""
