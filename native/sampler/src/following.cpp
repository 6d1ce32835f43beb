#include "following.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace steelyard {

namespace {

constexpr int ancestry_limit = 64;

/// The parent of a process, by /proc/PID/stat; 0 where the process is gone.
std::uint32_t parent_of(std::uint32_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    if (!std::getline(file, text))
        return 0;
    // The name stands in parentheses and may hold any character, so count from the last one.
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos)
        return 0;
    std::istringstream rest(text.substr(name_end + 1));
    char state = 0;
    std::uint32_t parent = 0;
    rest >> state >> parent;
    return parent;
}

}  // namespace

void Following::add(std::uint32_t process) {
    living_.try_emplace(process);
    strangers_.erase(process);
}

bool Following::includes(std::uint32_t process) {
    if (living_.contains(process))
        return true;
    if (const auto known = strangers_.find(process); known != strangers_.end())
        return false;
    std::uint32_t ancestor = parent_of(process);
    for (int step = 0; step < ancestry_limit && ancestor > 1; ++step) {
        if (living_.contains(ancestor)) {
            add(process);
            return true;
        }
        ancestor = parent_of(ancestor);
    }
    strangers_.emplace(process, true);
    return false;
}

void Following::started(const Lifetime& life) {
    strangers_.erase(life.process);
    const auto parent = living_.find(life.parent_process);
    if (parent == living_.end() || life.process == life.parent_process)
        return;
    // A child begins with the mappings of its parent.
    Process child = parent->second;
    child.names.clear();
    for (auto& [start, mapping] : child.mappings)
        mapping.process = life.process;
    living_.try_emplace(life.process, std::move(child));
}

bool Following::ended(const Lifetime& life) {
    strangers_.erase(life.process);
    const auto process = living_.find(life.process);
    if (process == living_.end())
        return false;
    process->second.names.erase(life.thread);
    if (life.thread != life.process)
        return false;
    living_.erase(process);
    return true;
}

void Following::mapped(const Mapping& mapping) {
    if (const auto process = living_.find(mapping.process); process != living_.end())
        process->second.mappings[mapping.start] = mapping;
}

void Following::named(const Naming& naming) {
    const auto process = living_.find(naming.process);
    if (process == living_.end())
        return;
    if (naming.after_exec)
        process->second.mappings.clear();
    process->second.names[naming.thread] = naming;
}

std::optional<FilePlace> Following::place_of(std::uint32_t process, std::uint64_t address) const {
    const auto known = living_.find(process);
    if (known == living_.end())
        return std::nullopt;
    auto after = known->second.mappings.upper_bound(address);
    if (after == known->second.mappings.begin())
        return std::nullopt;
    const Mapping& mapping = (--after)->second;
    if (address - mapping.start >= mapping.length)
        return std::nullopt;
    return FilePlace{&mapping.path, mapping.offset + (address - mapping.start)};
}

void Following::restate(ProfileFile& file) const {
    for (const auto& [number, process] : living_) {
        for (const auto& [thread, naming] : process.names)
            file.write(naming);
        for (const auto& [start, mapping] : process.mappings)
            file.write(mapping);
    }
}

}  // namespace steelyard
