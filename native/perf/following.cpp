#include "following.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

namespace steelyard {

namespace {

constexpr int ancestry_limit = 64;
// Samples are read within a round, which is far shorter.
constexpr std::uint64_t remembered_ns = 1'000'000'000;

std::string folder_of(std::int64_t process) {
    return "/proc/" + std::to_string(process);
}

/// The part of a mapping from `start` on.
Mapping rest_from(const Mapping& mapping, std::uint64_t start) {
    Mapping rest = mapping;
    rest.start = start;
    rest.length = mapping.start + mapping.length - start;
    rest.offset = mapping.offset + (start - mapping.start);
    return rest;
}

/// Takes out what lies from `start` to `end`; of what lies there in part the rest stays. So what a
/// program maps again and again takes no more room.
void make_room(std::map<std::uint64_t, Mapping>& mappings, std::uint64_t start, std::uint64_t end) {
    auto at = mappings.upper_bound(start);
    if (at != mappings.begin())
        --at;
    while (at != mappings.end() && at->first < end) {
        Mapping old = at->second;
        const std::uint64_t old_end = old.start + old.length;
        if (old_end <= start) {
            ++at;
            continue;
        }
        at = mappings.erase(at);
        if (old_end > end)
            mappings.emplace(end, rest_from(old, end));
        if (old.start < start) {
            old.length = start - old.start;
            mappings.emplace(old.start, old);
        }
    }
}

}  // namespace

bool has_ended(pid_t process) {
    std::error_code error;
    for (const auto& thread :
         std::filesystem::directory_iterator(folder_of(process) + "/task", error)) {
        const char state = process_stat(thread.path()).state;
        if (state != 0 && state != 'Z' && state != 'X')
            return false;
    }
    return true;
}

ProcessStat process_stat(const std::string& folder) {
    std::ifstream file(folder + "/stat");
    std::string text;
    // What ends between open and read gives ESRCH, which an iterator would throw.
    std::getline(file, text, '\0');
    // The name stands in parentheses and may hold any character, so count from the last one.
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos)
        return {};
    std::istringstream rest(text.substr(name_end + 1));
    ProcessStat found;
    rest >> found.state >> found.parent;
    // Fields 5 to 27 of proc(5) stand between.
    constexpr int between = 23;
    std::string skipped;
    for (int field = 0; field < between; ++field)
        rest >> skipped;
    rest >> found.stack_start;
    return found;
}

std::vector<pid_t> family_of(pid_t process) {
    std::multimap<std::uint32_t, pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        pid_t child = 0;
        const auto end = std::from_chars(name.data(), name.data() + name.size(), child).ptr;
        if (child > 0 && end == name.data() + name.size())
            children.emplace(process_stat(folder_of(static_cast<std::uint32_t>(child))).parent,
                             child);
    }
    std::vector<pid_t> family{process};
    for (std::size_t at = 0; at < family.size(); ++at) {
        const auto [begin, end] = children.equal_range(static_cast<std::uint32_t>(family[at]));
        for (auto child = begin; child != end; ++child)
            family.push_back(child->second);
    }
    return family;
}

void Following::add(std::uint32_t process) {
    living_.try_emplace(process).first->second.threads.insert(process);
    strangers_.erase(process);
}

bool Following::includes(std::uint32_t process, std::uint64_t time_ns) {
    if (living_.contains(process))
        return true;
    if (const auto past = past_.find(process);
        past != past_.end() && time_ns <= past->second.end_ns)
        return true;
    if (const auto known = strangers_.find(process); known != strangers_.end())
        return false;
    std::uint32_t ancestor = process_stat(folder_of(process)).parent;
    for (int step = 0; step < ancestry_limit && ancestor > 1; ++step) {
        if (living_.contains(ancestor)) {
            add(process);
            return true;
        }
        ancestor = process_stat(folder_of(ancestor)).parent;
    }
    strangers_.emplace(process, true);
    return false;
}

void Following::started(const Lifetime& life) {
    strangers_.erase(life.process);
    const auto parent = living_.find(life.parent_process);
    if (parent == living_.end())
        return;
    // A thread is called as the one that started it until it says otherwise.
    std::optional<Comm> name;
    if (const auto found = parent->second.names.find(life.parent_thread);
        found != parent->second.names.end())
        name = Comm{life.time_ns, life.process, life.thread, false, found->second.name};
    if (life.process == life.parent_process) {
        if (parent->second.ended_early.erase(life.thread) != 0)
            return;
        parent->second.threads.insert(life.thread);
        if (name)
            parent->second.names.try_emplace(life.thread, *name);
        return;
    }
    // A child begins with the mappings of its parent, also if a sample of it was read before.
    auto mappings = parent->second.mappings;
    for (auto& [start, mapping] : mappings)
        mapping.process = life.process;
    Process& child = living_[life.process];
    child.threads.insert(life.thread);
    if (name)
        child.names.try_emplace(life.thread, *name);
    if (child.mappings.empty())
        child.mappings = std::move(mappings);
}

bool Following::ended(const Lifetime& life) {
    strangers_.erase(life.process);
    const auto found = living_.find(life.process);
    if (found == living_.end())
        return false;
    Process& process = found->second;
    process.names.erase(life.thread);
    if (process.threads.erase(life.thread) == 0)
        process.ended_early.insert(life.thread);
    if (!process.threads.empty())
        return false;
    bury(life.process, std::move(process), life.time_ns);
    living_.erase(found);
    return true;
}

void Following::bury(std::uint32_t number, Process process, std::uint64_t end_ns) {
    std::erase_if(
        past_, [end_ns](const auto& item) { return item.second.end_ns + remembered_ns < end_ns; });
    past_.insert_or_assign(number, Past{std::move(process), end_ns});
}

void Following::mapped(const Mapping& mapping) {
    const auto process = living_.find(mapping.process);
    if (process == living_.end())
        return;
    auto& mappings = process->second.mappings;
    make_room(mappings, mapping.start, mapping.start + mapping.length);
    mappings[mapping.start] = mapping;
}

void Following::named(const Comm& comm) {
    const auto found = living_.find(comm.process);
    if (found == living_.end())
        return;
    Process& process = found->second;
    // Another program has no more of the threads of the one before.
    if (comm.after_exec)
        process = Process{};
    process.names[comm.thread] = comm;
    process.threads.insert(comm.thread);
}

std::optional<FilePlace> Following::place_of(std::uint32_t process, std::uint64_t address) const {
    const auto living = living_.find(process);
    const auto past = past_.find(process);
    if (living == living_.end() && past == past_.end())
        return std::nullopt;
    const auto& mappings =
        living != living_.end() ? living->second.mappings : past->second.process.mappings;
    auto after = mappings.upper_bound(address);
    if (after == mappings.begin())
        return std::nullopt;
    const Mapping& mapping = (--after)->second;
    if (address - mapping.start >= mapping.length)
        return std::nullopt;
    return FilePlace{&mapping.path, mapping.offset + (address - mapping.start), process,
                     &mapping.build_id};
}

std::vector<pid_t> Following::processes() const {
    std::vector<pid_t> numbers;
    numbers.reserve(living_.size());
    for (const auto& [number, process] : living_)
        numbers.push_back(static_cast<pid_t>(number));
    return numbers;
}

}  // namespace steelyard
