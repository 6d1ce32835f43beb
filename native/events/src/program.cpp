#include "program.hpp"

namespace steelyard {

void Program::take(const SideBandRecord& record) {
    if (const auto* comm = std::get_if<Comm>(&record)) {
        if (!has_begun_ && comm->after_exec) {
            has_begun_ = true;
            following_.add(comm->process);
        }
        if (comm->after_exec)
            running_.erase(comm->process);
        following_.named(*comm);
    } else if (const auto* mapping = std::get_if<Mapping>(&record)) {
        following_.mapped(*mapping);
    } else if (const auto* started = std::get_if<Started>(&record)) {
        following_.started(*started);
        // A child goes on in the code of its parent.
        if (running_.contains(started->parent_process))
            running_.insert(started->process);
    } else if (const auto* ended = std::get_if<Ended>(&record);
               ended != nullptr && following_.ended(*ended)) {
        running_.erase(ended->process);
    }
}

Whose Program::whose(std::uint32_t process, std::uint64_t time_ns, std::uint64_t address) {
    if (!has_begun_ || !following_.includes(process, time_ns))
        return Whose::strangers;
    if (following_.place_of(process, address)) {
        running_.insert(process);
        has_run_ = true;
    }
    if (running_.contains(process))
        return Whose::programs;
    return has_run_ ? Whose::kernels : Whose::strangers;
}

}  // namespace steelyard
