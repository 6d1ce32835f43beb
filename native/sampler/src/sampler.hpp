// The ways to sample: every CPU; or, for a user who may not look at those, every thread; or events.

#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "counted_event.hpp"
#include "counting.hpp"
#include "recording.hpp"
#include "sample_source.hpp"

namespace steelyard {

/// Samples in threads of its own from `start` to `stop`.
class Sampler {
  public:
    virtual ~Sampler() = default;
    /// Returns when the first sample can fall.
    virtual void start() = 0;
    /// Ends sampling and takes what is still in the rings. Throws what a thread failed with.
    virtual void stop() = 0;
    /// Processor time that handling samples took, in nanoseconds.
    virtual std::uint64_t handling_ns() const = 0;
    /// Looks whether the program is still where it is watched; to be called often.
    virtual void look_around() {}
    /// How much of the program's time was watched, where that is not all of it and is known.
    /// `taken_ns` is the processor time of a program that has ended and was waited for, or 0.
    virtual std::optional<Coverage> coverage(std::uint64_t taken_ns) = 0;
    /// Threads that could not be watched.
    virtual std::uint64_t unwatched() const { return 0; }
    /// What went otherwise than planned, once it has stopped.
    virtual Delays delays() const { return {}; }
    /// For how long at most the CPUs that it watches idled, where it does and has stopped.
    virtual std::uint64_t idle_ns() const { return 0; }
    virtual const char* scope() const = 0;
    virtual bool failed() const = 0;
};

/// Looks at every CPU that this process can move to, at random times. A thread on each CPU arms its
/// events there, so that no other CPU is interrupted. Also idle CPUs are looked at: passing over
/// them would make the next look depend on when the program began to run.
std::unique_ptr<Sampler> cpu_sampler(const Sampling& sampling, Recording& recording);

/// Watches each thread of the processes and of what they start, each by its own processor time. A
/// thread is watched from a moment after its start.
std::unique_ptr<Sampler> thread_sampler(const Sampling& sampling, Recording& recording,
                                        const std::vector<pid_t>& processes, bool kernel);

/// Takes the samples that a program with marked calls takes of itself in user mode. `process` is
/// about to run it.
std::unique_ptr<Sampler> mark_sampler(const Sampling& sampling, Recording& recording,
                                      pid_t process);

/// Takes each event, or each so many, of the processes and of what they start: `started` says that
/// they wait to execute a program.
std::unique_ptr<Sampler> event_sampler(const CountedEvents& events, Recording& recording,
                                       const std::vector<pid_t>& processes, bool started,
                                       Rights rights);

}  // namespace steelyard
