"""Programs of which it is known where their time passes."""

# The argument is how many turns `hot` makes.
HOT_IN_PYTHON = """
import sys
def cold(n):
    return n
def hot(n):
    total = 0
    for i in range(n):
        total += i
    return cold(total)
hot(int(sys.argv[1]))
"""
