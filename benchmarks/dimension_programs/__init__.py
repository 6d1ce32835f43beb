"""What dimensioning saves on real programs with harnesses inside."""
