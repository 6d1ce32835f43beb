// One of the kernel's trace points, or a probe in a program, with the stack, or the
// registers alone, at each of its events.

#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "event.hpp"
#include "ring.hpp"

namespace steelyard {

/// Which events are wanted: the number that tracefs gives them, and the kernel's filter, or
/// nothing.
struct Wanted {
    std::uint64_t number = 0;
    std::string filter;
    /// A place in a program. Of everybody who comes by there, since Linux loses those of a thread
    /// that has taken the events of another one over, which ended (trace_uprobe.c, 6.18).
    bool is_probe = false;
};

/// What comes with each event.
enum class Taken { stacks, registers };

/// What is asked of the kernel for one kind of event.
perf_event_attr tracepoint_attributes(const Wanted& wanted, Taken taken);

/// Records one kind of event on one CPU, of what a process starts from now on, as soon as that
/// executes a program; of a probe, from now on.
class Tracepoint {
  public:
    /// Writes to the ring of `first`, of the same CPU, or to one of its own where that is null.
    Tracepoint(const Wanted& wanted, Watched watched, Taken taken, const Tracepoint* first);
    ~Tracepoint();
    Tracepoint(const Tracepoint&) = delete;
    Tracepoint& operator=(const Tracepoint&) = delete;

    int file() const { return file_; }
    /// What its records say that they are of.
    std::uint64_t identity() const;
    /// Only of one that writes to its own.
    Ring& ring() { return *ring_; }

  private:
    void set_up(const Wanted& wanted, const Tracepoint* first);

    int file_;
    std::unique_ptr<Ring> ring_;
};

}  // namespace steelyard
