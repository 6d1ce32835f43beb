// The calling context tree of one thread, in a file of its own, so that it is there however the
// program ends (G. Ammons, T. Ball, J. Larus, PLDI 1997).

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard {

constexpr std::uint64_t tree_magic = 0x3165657274797473;  // "stytree1"
constexpr std::uint32_t no_node = UINT32_MAX;

struct TreeHeader {
    std::uint64_t magic;
    std::uint32_t process, thread;
    std::uint64_t node_count;
    std::uint64_t lost;     ///< entries that came while the recorder was at work
    std::uint64_t guessed;  ///< entries whose callers could not all be found
};

/// A path: that of its parent, and a function that was called with so many bytes of stack from the
/// start of the stack to its frame; 0 of those on another stack. The first node is the root.
struct TreeNode {
    std::uint32_t parent, function;
    std::uint64_t height_bytes, count;
};

/// Uses no memory of the program's allocator, no floating-point registers, and no locks.
class PathTree {
  public:
    /// Whether the file could be made.
    bool open(const char* path, std::uint32_t process, std::uint32_t thread);
    /// `no_node` where there is no more memory.
    std::uint32_t child(std::uint32_t parent, std::uint32_t function, std::uint64_t height_bytes);
    void count(std::uint32_t node) { nodes_[node].count += 1; }
    std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
    TreeHeader& header() { return *header_; }
    void close();
    /// In the child of a fork: the same tree without counts, in a file of its own.
    bool reopen(const char* path, std::uint32_t process, std::uint32_t thread);

  private:
    bool grow_file();
    bool grow_places();
    void place(std::uint32_t node);
    std::uint64_t first_place(const TreeNode& node) const;

    int file_ = -1;
    TreeHeader* header_ = nullptr;
    TreeNode* nodes_ = nullptr;
    std::uint64_t file_bytes_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t* places_ = nullptr;
    std::uint64_t place_count_ = 0;
};

}  // namespace steelyard
