// Why the kernel gives no event, in words, with what would help.

#pragma once

#include "fatal.hpp"

namespace steelyard {

/// By errno, as perf_event_open(2) has left it; `what` is what was asked for.
Fatal refusal(const char* what);

}  // namespace steelyard
