// Processor time as the kernel counts it: what a program took of it, and what of that was watched.

#pragma once

#include <cstdint>

#include "event.hpp"

namespace steelyard {

/// How much of a program's processor time was watched.
struct Coverage {
    std::uint64_t program_ns = 0;
    std::uint64_t watched_ns = 0;
    std::uint64_t missed_ns = 0;  ///< of what was not, since the sampler was late
};

/// Counts the processor time of a thread from now on, if told so with that of all threads and
/// processes that it starts.
class CountingEvent {
  public:
    enum class Scope { thread, descendants };

    /// Cycles are counted of a thread alone.
    CountingEvent(pid_t thread, Scope scope, bool kernel, Clock clock = Clock::software);
    ~CountingEvent();
    CountingEvent(const CountingEvent&) = delete;
    CountingEvent& operator=(const CountingEvent&) = delete;

    /// So far, in nanoseconds or cycles; also after the thread has ended.
    std::uint64_t count() const { return counts().all; }

    /// What it counted, and what of that the event counted that it leads (`Watched::leader`), both
    /// read at one moment. Only of a thread alone.
    struct Counts {
        std::uint64_t all = 0;
        std::uint64_t led = 0;
    };
    Counts counts() const;

    int file() const { return file_; }

  private:
    int file_ = -1;
    bool is_group_ = false;
};

}  // namespace steelyard
