// Processor time as the kernel counts it: what a program took of it, and what of that was watched.

#pragma once

#include <cstdint>

#include "event.hpp"

namespace steelyard {

/// How much of a program's processor time was watched.
struct Coverage {
    std::uint64_t program_ns = 0;
    std::uint64_t watched_ns = 0;
};

/// Counts the processor time of a thread from now on, if told so with that of all threads and
/// processes that it starts.
class CountingEvent {
  public:
    enum class Scope { thread, descendants };

    CountingEvent(pid_t thread, Scope scope, bool kernel);
    ~CountingEvent();
    CountingEvent(const CountingEvent&) = delete;
    CountingEvent& operator=(const CountingEvent&) = delete;

    /// So far; also after the thread has ended.
    std::uint64_t count_ns() const;

  private:
    int file_ = -1;
};

}  // namespace steelyard
