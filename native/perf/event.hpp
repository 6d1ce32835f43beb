// The kernel's side of sampling: what is asked of perf_event_open(2).

#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "ring.hpp"
#include "sample_record.hpp"

namespace steelyard {

enum class Clock { software, cycles };

/// Whom an event watches: one thread wherever it runs, or whatever runs on one CPU.
struct Watched {
    pid_t thread = -1;
    int cpu = -1;
    int leader = -1;  ///< the file of the event that it is read with; -1: none
};

/// What makes an event write samples that `sample_from` reads with a copy of the stack, of so many
/// bytes; throws Fatal where callers are not found that way.
perf_event_attr copying_attributes(std::uint32_t copied_bytes);

/// The same with the address, the stack pointer and the frame pointer alone: nothing of the stack.
perf_event_attr registering_attributes();

/// The same of what samples hold that `sample_from` reads to this depth; `kernel`: also of what the
/// kernel does for the program. Throws Fatal where this processor's callers are not found that way.
perf_event_attr sampling_attributes(Depth depth, bool kernel);

/// The file of an event, or a negative number and errno.
int open_event(perf_event_attr& attributes, Watched watched);

/// Of an event whose times are those of CLOCK_MONOTONIC; `kernel`: not of programs alone.
perf_event_attr monotonic_attributes(bool kernel);

/// Whether this user may look at whole CPUs, and into the kernel.
struct Rights {
    bool whole_cpus = false;
    bool kernel = false;
};
Rights rights_here();

class SamplingEvent;

/// Of events that watch the same CPU and write to one ring, which wakes its reader when it is half
/// full. An event alone wakes it with each sample.
struct EventGroup {
    const SamplingEvent* first = nullptr;  ///< whose ring it writes to; null: it is the first
};

/// Samples by the kernel's timers.
class SamplingEvent {
  public:
    SamplingEvent(Watched watched, Clock clock, Depth depth, bool kernel,
                  std::optional<EventGroup> group = std::nullopt);
    ~SamplingEvent();
    SamplingEvent(const SamplingEvent&) = delete;
    SamplingEvent& operator=(const SamplingEvent&) = delete;

    /// Samples once after `interval_ns`, then waits to be told again.
    void sample_once(std::uint64_t interval_ns);
    /// Samples from now on, always after `interval_ns`.
    void run(std::uint64_t interval_ns);
    /// The same, of one that runs.
    void postpone(std::uint64_t interval_ns);

    int file() const { return file_; }
    /// What its samples say that they are of.
    std::uint64_t identity() const;
    /// Only of an event that writes to its own.
    Ring& ring() { return *ring_; }

  private:
    int file_;
    std::unique_ptr<Ring> ring_;
};

/// Tells of new processes and threads, their names, ends and executable mappings.
class TrackingEvent {
  public:
    TrackingEvent(Watched watched, bool kernel);
    ~TrackingEvent();
    TrackingEvent(const TrackingEvent&) = delete;
    TrackingEvent& operator=(const TrackingEvent&) = delete;

    int file() const { return file_; }
    Ring& ring() { return *ring_; }

  private:
    int file_;
    std::unique_ptr<Ring> ring_;
};

}  // namespace steelyard
