// Events that are taken one by one: what the kernel does for a program, and places in its code.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "event.hpp"
#include "ring.hpp"

namespace steelyard {

/// A kind of event, as perf_event_open(2) numbers it.
struct CountedEvent {
    std::uint32_t type = 0;
    std::uint64_t config = 0;
    /// Of a place in a program: its file, and where in that.
    std::uint64_t offset = 0;
    std::string path;

    bool is_place() const { return !path.empty(); }
};

struct CountedEvents {
    std::vector<CountedEvent> wanted;
    std::uint64_t every = 1;  ///< one of so many is taken
    Depth depth;
};

/// One kind of event on one CPU.
class EventCounter {
  public:
    /// Writes to the ring of `first`, of the same CPU, or to one of its own where that is null.
    /// `from_exec`: from when the thread executes a program. Throws Fatal where the kernel does not
    /// allow it or knows no such event.
    EventCounter(const CountedEvent& event, const CountedEvents& all, Watched watched,
                 bool from_exec, Rights rights, const EventCounter* first);
    ~EventCounter();
    EventCounter(const EventCounter&) = delete;
    EventCounter& operator=(const EventCounter&) = delete;

    int file() const { return file_; }
    /// Only of one that writes to its own.
    Ring& ring() { return *ring_; }

  private:
    int file_;
    std::unique_ptr<Ring> ring_;
};

}  // namespace steelyard
