// The threads of the program whose paths are noted, and what is known of the program.

#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "known_entries.hpp"
#include "library_steps.hpp"
#include "path_tree.hpp"
#include "plan.hpp"
#include "remembered_walks.hpp"

namespace steelyard {

constexpr std::size_t longest_path = 4096, most_frames = 1U << 24U;
/// Where stacks are walked.
constexpr std::size_t own_stack_bytes = 1U << 18U;

struct Frame {
    enum : std::uint32_t {
        seen = 1,       ///< its entry was: nothing else can be there
        elsewhere = 2,  ///< on another stack than the one whose beginning is known
    };
    std::uint64_t entry_stack;
    std::uint32_t node;  ///< says the function
    std::uint32_t kind;  ///< of the above
};

/// What is noted first lies first: `steelyard_entry` reads it.
struct Thread {
    Frame* frames;
    std::size_t depth;
    std::uint64_t at_work_at;  ///< the stack of the entry that is being noted; 0: none
    TreeNode* nodes;           ///< those of the tree
    std::uint64_t start;       ///< where the stack begins
    std::byte* own_stack;
    /// Each frame lies below that of its caller: not so where a signal handler has its own stack.
    bool is_ordered, knows_entries;
    alignas(64) KnownEntries known;
    PathTree tree;
    RememberedWalks walks;
    LibrarySteps steps;

    void forget_entries() {
        if (knows_entries)
            known.forget();
        knows_entries = false;
    }
};

struct Program {
    std::span<const PlannedFunction> functions;
    std::span<const CallSite> call_sites;
    std::uint64_t bias = 0;
    /// All bits of a call site that paths keep: none, or all.
    std::uint64_t kept_sites = 0;
    char folder[longest_path] = {};
    pthread_key_t key = 0;
    std::atomic<bool> walking = false;
    std::atomic<std::uint32_t> files = 0;
};

// Declared alone; they are initialised by constants.
// NOLINTBEGIN(bugprone-dynamic-static-initializers)
extern Program program;
[[gnu::visibility("hidden")]] extern __thread Thread* thread __asm__("steelyard_thread");
extern __thread bool has_ended;
// NOLINTEND(bugprone-dynamic-static-initializers)

/// Writes text and its end; gives where that stands.
char* put_text(char* to, const char* text);

/// Nothing where there is no memory, or no file can be made.
Thread* new_thread();

/// Called as a thread ends: closes what it noted.
void end_thread(void* ended);

/// In the child of a fork: the paths go into a file of its own.
void after_fork();

}  // namespace steelyard
