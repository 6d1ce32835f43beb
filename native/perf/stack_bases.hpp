// Where the stacks of threads begin, from which heights are counted.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "side_band.hpp"
#include "stack_note.hpp"
#include "unwinder.hpp"

namespace steelyard {

/// The stack of a thread begins here, from `time_ns` on.
struct StackBase {
    std::uint64_t time_ns = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint64_t address = 0;
};

/// Where the stack of a thread with such a note begins; nothing where no table of the code that it
/// began in tells.
std::optional<std::uint64_t> stack_beginning(const StackNote& note, Unwinder& unwinder,
                                             const Lookup& lookup);

/// Where the stack of the first thread of a process begins; 0: it has none yet, or nobody but its
/// user may know.
std::uint64_t first_stack(std::uint32_t process);

/// From the notes that programs write as their threads begin, and from /proc of first threads.
class StackBases {
  public:
    /// Where the stack begins of a thread with such a note; nothing where that is not known yet.
    using Beginning = std::function<std::optional<std::uint64_t>(const StackNote&)>;
    using Tell = std::function<void(const StackBase&)>;
    /// As `first_stack`.
    using FirstStack = std::function<std::uint64_t(std::uint32_t)>;

    StackBases(std::string notes_path, Beginning beginning, Tell tell,
               FirstStack first_stack_of = first_stack)
        : path_(std::move(notes_path)),
          beginning_(std::move(beginning)),
          tell_(std::move(tell)),
          first_stack_(std::move(first_stack_of)) {}

    /// Takes what was noted since the last call.
    void take_notes();
    /// Before a sample of a process: looks where its first thread's stack begins, until it is told.
    void look_at(std::uint32_t process);

    void started(const Lifetime& life);
    void named(const Comm& comm);
    void ended(const Lifetime& life);
    /// Where the stack of a thread begins; nothing where that is not known. Takes what it noted.
    std::optional<std::uint64_t> base_of(std::uint32_t process, std::uint32_t thread);
    /// Tells of all again.
    void restate() const;

  private:
    using Key = std::pair<std::uint32_t, std::uint32_t>;

    struct Pending {
        StackNote note;
        unsigned looks = 0;
    };

    void keep(const StackBase& base);
    void read_file();

    std::string path_;
    Beginning beginning_;
    Tell tell_;
    FirstStack first_stack_;
    std::uint64_t read_bytes_ = 0;
    std::vector<Pending> pending_;
    std::map<Key, StackBase> known_;
    /// When processes began to run what they run; 0: nobody saw that. Those not in it are to be
    /// looked at.
    std::unordered_map<std::uint32_t, std::uint64_t> begins_;
    /// How often a process was looked at; the most: its stack need not be looked for any more.
    std::unordered_map<std::uint32_t, unsigned> looks_;
};

}  // namespace steelyard
