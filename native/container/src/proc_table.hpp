// The processes of a PID namespace, as its /proc shows them.

#pragma once

namespace steelyard {

/// How many processes other than this one live, those that have ended but were not waited for left
/// out.
int living_others();

/// Ends every other process of this PID namespace, of which this one is the first, and waits for
/// them. How many there were.
int end_others();

}  // namespace steelyard
