"""How much each repetition level contributes to the variation of measurements."""
