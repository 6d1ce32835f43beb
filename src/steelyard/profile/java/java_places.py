"""Places in compiled Java code whose method the virtual machine tells wrongly.

HotSpot's optimising compiler notes with each node of its graph which bytecode it was made for. It
inlines some calls late: boxing (`Integer.valueOf`), strings put together, method handles. For such
a call it sets what is noted by default, and does not take it back (`CallGenerator::
do_late_inline_helper` in callGenerator.cpp calls `set_default_node_notes`; seen in JDK 17 and 25).
What is made after the last of these calls, which is nearly all but loads, stores and calls, is
then noted as that call: a third to two thirds of the method's bytes, wherever they stem from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

# Said of profilers that take what is noted as it is.
TAKEN_AS_NOTED = (
    "methods are named as HotSpot notes them. After a call that its optimising compiler inlined "
    "late (boxing, strings put together, method handles) up to two thirds of a method are noted as "
    "that call: their time, loops among it, counts for the method that was called."
)
# Of 12,424 compiled methods of five programs (JDK 17, one of them under 25 too) 73 had a call at
# eight places or more that were not before its own code: 64 at 30 to 42 % of their places, 9 at 6 %
# and less; the bounds were chosen by these. Of 17,135 methods that were looked at afterwards (two
# other programs, and javac of 17 and 25) 34 had: 21 at 34 to 42 %, 13 at 7 % and less.
_LEAST_COUNT = 8
_LEAST_SHARE = 0.2


def callers(places: Iterable[str]) -> set[str]:
    """The frames ``METHOD@BYTECODE`` into which something was inlined: they are at calls."""
    return {frame for frames in places for frame in frames.split(",")[1:]}


def told_wrongly(places: Sequence[str], calls: AbstractSet[str]) -> str | None:
    """The frames that stand at places where other code is; None where there are none.

    Parameters
    ----------
    places : sequence of str
        What is told of each place in a compiled method, in their order: its frames
        ``METHOD@BYTECODE``, the youngest first, apart by commas.
    calls : set of str
        The frames that are at calls (`callers`), of all code: a method may have been compiled
        otherwise before.

    Notes
    -----
    They are those of a call that was inlined, which has no instruction of its own left but the
    tests of what it is called on, before what was inlined; and yet they are told of many places.
    What is without such a place is of the next one, as it is in HotSpot where a node has no note.
    """
    counts = Counter(
        frames
        for frames, after in pairwise([*places, ""])
        if frames.partition(",")[0] in calls and not after.endswith(f",{frames}")
    )
    if not counts:
        return None
    frames, count = counts.most_common(1)[0]
    is_wrong = count >= max(_LEAST_COUNT, _LEAST_SHARE * len(places))
    return frames if is_wrong else None
