#include "stack_bases.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "following.hpp"

namespace steelyard {

namespace {

// The mapping of the code that a thread begins in may be told of later than the thread.
constexpr unsigned most_looks = 8;

// In the midst of execve(2) no stack is told of yet, and of a process of more rights none ever.
constexpr unsigned most_looks_at_process = 64;

}  // namespace

std::optional<std::uint64_t> stack_beginning(const StackNote& note, Unwinder& unwinder,
                                             const Lookup& lookup) {
    if (note.return_address == 0)
        return note.stack_pointer;
    Registers registers{};
    registers[stack_register] = note.stack_pointer;
    registers[frame_register] = note.frame_pointer;
    registers[address_register] = note.return_address;
    return unwinder.frame_of_caller(registers, lookup);
}

std::uint64_t first_stack(std::uint32_t process) {
    return process_stat("/proc/" + std::to_string(process)).stack_start;
}

void StackBases::take_notes() {
    read_file();
    std::vector<Pending> left;
    for (Pending& pending : pending_) {
        const StackNote& note = pending.note;
        if (const auto address = beginning_(note))
            keep({note.time_ns, note.process, note.thread, *address});
        else if (++pending.looks < most_looks)
            left.push_back(pending);
    }
    pending_ = std::move(left);
}

void StackBases::read_file() {
    const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    StackNote note;
    while (pread(file, &note, sizeof note, static_cast<off_t>(read_bytes_)) == sizeof note) {
        read_bytes_ += sizeof note;
        pending_.push_back({note});
    }
    close(file);
}

void StackBases::look_at(std::uint32_t process) {
    unsigned& looks = looks_[process];
    if (looks == most_looks_at_process)
        return;
    ++looks;
    const bool is_noted = known_.contains({process, process});
    const std::uint64_t address = is_noted ? 0 : first_stack_(process);
    if (address != 0)
        keep({begins_[process], process, process, address});
    if (is_noted || address != 0)
        looks = most_looks_at_process;
}

void StackBases::started(const Lifetime& life) {
    known_.erase({life.process, life.thread});
    if (life.process == life.parent_process)
        return;
    begins_[life.process] = life.time_ns;
    looks_.erase(life.process);
    take_notes();
    // A child goes on with a copy of the stack of the thread that forked.
    const auto parent = known_.find({life.parent_process, life.parent_thread});
    if (parent != known_.end())
        keep({life.time_ns, life.process, life.thread, parent->second.address});
    else if (life.parent_thread != life.parent_process)
        looks_[life.process] = most_looks_at_process;
}

void StackBases::named(const Comm& comm) {
    if (!comm.after_exec)
        return;
    begins_[comm.process] = comm.time_ns;
    looks_.erase(comm.process);
    std::erase_if(known_, [&](const auto& item) {
        return item.first.first == comm.process && item.second.time_ns < comm.time_ns;
    });
}

void StackBases::ended(const Lifetime& life) {
    known_.erase({life.process, life.thread});
    if (life.process == life.thread) {
        begins_.erase(life.process);
        looks_.erase(life.process);
    }
}

std::optional<std::uint64_t> StackBases::base_of(std::uint32_t process, std::uint32_t thread) {
    if (!known_.contains({process, thread})) {
        read_file();
        std::erase_if(pending_, [&](const Pending& pending) {
            const StackNote& note = pending.note;
            const bool is_its = note.process == process && note.thread == thread;
            const auto address = is_its ? beginning_(note) : std::nullopt;
            if (address)
                keep({note.time_ns, process, thread, *address});
            return address.has_value();
        });
    }
    const auto found = known_.find({process, thread});
    return found == known_.end() ? std::nullopt : std::optional(found->second.address);
}

void StackBases::restate() const {
    for (const auto& [key, base] : known_)
        tell_(base);
}

void StackBases::keep(const StackBase& base) {
    known_[{base.process, base.thread}] = base;
    tell_(base);
}

}  // namespace steelyard
