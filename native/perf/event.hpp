// The kernel's side of sampling: what is asked of perf_event_open(2).

#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "ring.hpp"
#include "unwinder.hpp"

namespace steelyard {

enum class Clock { software, cycles };

/// What each sample holds beyond where the thread was.
struct Depth {
    /// The chain of return addresses, by frame pointers, with a copy of what is on top of the
    /// stack: code without a frame of its own has its caller there.
    bool frame_pointers = false;
    bool stack_copy = false;  ///< what it takes to find that chain by .eh_frame
    /// The word that stands so many bytes below the base pointer; 0: none. Interpreters that keep
    /// there what they interpret can be seen through.
    std::uint64_t word_below_frame = 0;
};

/// Whom an event watches: one thread wherever it runs, or whatever runs on one CPU.
struct Watched {
    pid_t thread = -1;
    int cpu = -1;
    int leader = -1;  ///< the file of the event that it is read with; -1: none
};

/// One sample, as the kernel wrote it.
struct Sample {
    std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t cpu = 0;
    bool in_kernel = false;
    std::uint64_t address = 0;       ///< of the instruction, the kernel's if it was there
    std::uint64_t user_address = 0;  ///< where the program itself was; 0 where it has no registers
    std::uint64_t stack_pointer = 0;
    std::uint64_t base_pointer = 0;
    std::uint64_t frame_word = 0;  ///< the word asked for; 0 where it is not near the stack's top
    const std::uint64_t* chain = nullptr;
    std::size_t chain_length = 0;
    StackCopy copy;
};

/// What makes an event write samples that `sample_from` reads with a copy of the stack, of so many
/// bytes; throws Fatal where callers are not found that way.
perf_event_attr copying_attributes(std::uint32_t copied_bytes);

/// Reads a PERF_RECORD_SAMPLE of a `SamplingEvent`; nothing where it is cut short.
std::optional<Sample> sample_from(const RawRecord& record, Depth depth);

/// Which event took a sample, and when; zeros where it is cut short.
struct Origin {
    std::uint64_t event = 0;
    std::uint64_t time_ns = 0;
};
Origin origin_of(const RawRecord& record);

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
