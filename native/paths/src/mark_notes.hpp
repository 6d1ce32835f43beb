// What keeps the value of a thread right where marked calls are left otherwise than by returning,
// and the signal by which a thread is sampled.

#pragma once

#include <signal.h>

#include <cstdint>

namespace steelyard {

/// Where in the C library's block of a thread the value is, and the function that exceptions call.
/// As profile/paths/marked_program.py has them.
constexpr int mark_value_at = 0x80, mark_passing_at = 0x88;

/// Nobody sends it on x86-64 (signal(7)), and one that waits is not queued again.
constexpr int mark_signal = SIGSTKFLT;

using SignalAction = int (*)(int, const struct sigaction*, struct sigaction*);

/// The C library's.
SignalAction next_sigaction();

bool takes_samples();
void note_taken_signal();
/// From now on values mean nothing: threads go on on other stacks.
void note_stack_switch();
std::uint64_t carried_value();
void carry_value(std::uint64_t value);
/// Lets exceptions that pass a marked call put the value of this thread back.
void carry_through_exceptions();

}  // namespace steelyard
