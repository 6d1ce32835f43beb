#include "event_depths.hpp"

#include <iterator>
#include <utility>
#include <variant>

namespace steelyard {

EventDepths::EventDepths(std::string notes_path, StackBases::Beginning beginning)
    : bases_(std::move(notes_path), std::move(beginning), [this](const StackBase& base) {
          of_threads_[{base.process, base.thread}][base.time_ns] = base.address;
      }) {}

void EventDepths::take(const SideBandRecord& record) {
    if (const auto* started = std::get_if<Started>(&record)) {
        of_threads_[{started->process, started->thread}].try_emplace(started->time_ns, 0);
        bases_.started(*started);
    } else if (const auto* ended = std::get_if<Ended>(&record)) {
        bases_.ended(*ended);
    } else if (const auto* comm = std::get_if<Comm>(&record)) {
        if (comm->after_exec)
            of_threads_[{comm->process, comm->thread}].try_emplace(comm->time_ns, 0);
        bases_.named(*comm);
    }
}

Depths EventDepths::of(const RegisterEvent& event) const {
    const auto thread = of_threads_.find({event.process, event.thread});
    if (thread == of_threads_.end())
        return {};
    const auto later = thread->second.upper_bound(event.time_ns);
    if (later == thread->second.begin())
        return {};
    const std::uint64_t base = std::prev(later)->second;
    // A handler of signals may have a stack of its own.
    if (base == 0 || event.stack_pointer > base)
        return {};
    const bool is_inside =
        event.frame_pointer >= event.stack_pointer && event.frame_pointer <= base;
    return {static_cast<std::int64_t>(base - event.stack_pointer),
            is_inside ? static_cast<std::int64_t>(base - event.frame_pointer) : Depths::unknown};
}

}  // namespace steelyard
