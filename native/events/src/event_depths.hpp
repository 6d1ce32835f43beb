// How deep in the stack of its thread an event came, by registers alone.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "call_paths.hpp"
#include "side_band.hpp"
#include "stack_bases.hpp"

namespace steelyard {

/// An event of which the registers are known.
struct RegisterEvent {
    unsigned kind = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint64_t time_ns = 0;
    CodePlace place;
    std::uint64_t stack_pointer = 0;
    std::uint64_t frame_pointer = 0;
};

class EventDepths {
  public:
    EventDepths(std::string notes_path, StackBases::Beginning beginning);

    /// Takes what is told of processes, in the order of time.
    void take(const SideBandRecord& record);
    void take_notes() { bases_.take_notes(); }
    /// Before an event of a process, while that may still be there.
    void look_at(std::uint32_t process) { bases_.look_at(process); }

    /// By where the stack began that the thread had at that time.
    Depths of(const RegisterEvent& event) const;

  private:
    /// Where the stack of a thread begins from a time on, by that time; 0: not known.
    using Changes = std::map<std::uint64_t, std::uint64_t>;

    StackBases bases_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Changes> of_threads_;
};

}  // namespace steelyard
