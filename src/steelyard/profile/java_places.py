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
from collections.abc import Iterator, Sequence

# Of 10,852 compiled methods of five programs (JDK 17) 50 had an inlined call at eight places or
# more: at 34 to 44 % of their places or at 15 % and less, with nothing between. Of 1,572 under
# JDK 25 34 had: at 33 to 44 %, or at 9 % and less.
_LEAST_COUNT = 8
_LEAST_SHARE = 0.25


def told_wrongly(places: Sequence[str]) -> str | None:
    """The frames that stand at places where other code is; None where there are none.

    Parameters
    ----------
    places : sequence of str
        What is told of each place in a compiled method: its frames ``METHOD@BYTECODE``, the
        youngest first, apart by commas.

    Notes
    -----
    They are those of a call that was inlined, which has no instruction of its own left but the
    tests of what it is called on; and yet they are told of many places. What is without such a
    place is of the next one, as it is in HotSpot where a node has no note.
    """
    counts = Counter(places)
    calls = {caller for frames in counts for caller in _callers(frames)}
    of_calls = {frames: count for frames, count in counts.items() if frames in calls}
    if not of_calls:
        return None
    frames, count = max(of_calls.items(), key=lambda item: item[1])
    is_wrong = count >= max(_LEAST_COUNT, _LEAST_SHARE * len(places))
    return frames if is_wrong else None


def _callers(frames: str) -> Iterator[str]:
    while "," in frames:
        frames = frames.partition(",")[2]
        yield frames
