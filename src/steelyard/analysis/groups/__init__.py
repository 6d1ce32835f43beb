"""Groups beside each other: effect sizes with intervals, and the tests of location and spread."""
