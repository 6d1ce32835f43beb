// Samples that a program with marked calls takes of itself: a ring in a file that it and the
// sampler map.

#pragma once

#include <atomic>
#include <cstdint>

namespace steelyard {

constexpr std::uint64_t mark_ring_magic = 0x316b72616d797473;  // "stymark1"
constexpr std::uint64_t mark_ring_places = 1U << 16U;
/// The value of a thread that is not known: it runs on a stack that is not its own.
constexpr std::uint64_t unknown_mark = UINT64_MAX;

struct MarkRecord {
    std::atomic<std::uint64_t> number;  ///< of the record, from 1; 0 while it is written
    std::uint64_t time_ns;              ///< CLOCK_MONOTONIC
    std::uint64_t address, stack_pointer, frame_pointer;
    std::uint64_t value;  ///< what the thread carries
    std::uint32_t process, thread;
    std::uint32_t cpu;
    std::uint32_t unused;
};

/// The file begins with this; records follow.
struct MarkRing {
    std::uint64_t magic;
    std::uint64_t period_ns;
    double ratio;  ///< the time to the next sample is the period times 1 plus or minus this
    std::uint64_t seed;
    std::atomic<std::uint64_t> taken;      ///< records so far
    std::atomic<std::uint64_t> unwatched;  ///< threads that could not be sampled
    std::atomic<std::uint64_t> error;      ///< errno of the last of these
    /// Processor time of threads before they were sampled, in nanoseconds.
    std::atomic<std::uint64_t> before_ns;
    std::atomic<std::uint64_t> programs;     ///< programs that were begun
    std::atomic<std::uint64_t> took_signal;  ///< one has wanted the signal for itself
};

constexpr std::uint64_t mark_ring_bytes = sizeof(MarkRing) + mark_ring_places * sizeof(MarkRecord);

}  // namespace steelyard
