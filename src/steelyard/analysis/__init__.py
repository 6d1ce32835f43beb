"""Statistics: arrays and specifications in, frozen values out. No I/O, no clock, no text."""
