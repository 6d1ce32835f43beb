// Ends a command that runs too long, writes too much, or is no longer wanted.

#pragma once

#include <sys/types.h>

#include <cstdint>

#include "sink.hpp"
#include "streams.hpp"

namespace steelyard {

/// How a running command came to its end, apart from what its exit status says.
enum class Ending { natural, timeout, output, stopped };

/// Watches over a running command: its time, its output, and whether anyone still wants it.
///
/// A timer interrupts the blocking wait at each tick, so that a command shorter than one tick is
/// never disturbed and the usual trial pays for one system call. Lost wake-ups do no harm: the
/// next tick comes.
class Watch {
  public:
    /// Installs the signal handlers. `requests` is the descriptor that Python writes to.
    Watch(int requests, RecordSink& sink, Streams& streams);

    /// Whether Python asked to stop, or is gone. Makes no system call while neither is so.
    bool stopped() const;

    /// Begins to watch a command that may run for `timeout_ns`, or for ever when that is 0.
    void begin(std::int64_t timeout_ns);

    /// One look at the process group `group`; ends it where it must end. Called after a signal.
    void look(pid_t group);

    Ending ending() const { return ending_; }

  private:
    bool abandoned() const;
    void end_group(pid_t group, Ending why, int signal);
    void arm(std::int64_t now_ns) const;

    int requests_;
    RecordSink& sink_;
    Streams& streams_;
    pid_t parent_ = 0;
    std::int64_t deadline_ns_ = 0;
    Ending ending_ = Ending::natural;
};

/// Time between asking a process to end (SIGTERM) and ending it (SIGKILL).
constexpr std::int64_t grace_ns = 500'000'000;

/// Ends a process group, and its leader should it have left the group.
void signal_group(pid_t group, int signal);

}  // namespace steelyard
