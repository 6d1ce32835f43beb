// The calling context tree of one thread, in a file of its own, so that it is there however the
// program ends (G. Ammons, T. Ball, J. Larus, PLDI 1997).

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard {

constexpr std::uint64_t tree_magic = 0x3265657274797473;  // "stytree2"
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
    /// Where the call of `parent` that led here returns to, as virtual address; 0: no call of it
    /// did, or nobody asked.
    std::uint64_t call_site;
};

/// Uses no memory of the program's allocator, no floating-point registers, and no locks.
class PathTree {
  public:
    /// Whether the file could be made.
    bool open(const char* path, std::uint32_t process, std::uint32_t thread);
    /// `no_node` where there is no more memory.
    std::uint32_t child(std::uint32_t parent, std::uint32_t function, std::uint64_t height_bytes,
                        std::uint64_t call_site) {
        const TreeNode wanted{parent, function, height_bytes, 0, call_site};
        const std::uint32_t first = places_[first_place(wanted)];
        return is_path(nodes_[first], wanted) ? first : searched_child(wanted);
    }
    void count(std::uint32_t node) { nodes_[node].count += 1; }
    std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
    TreeHeader& header() { return *header_; }
    void close();
    /// In the child of a fork: the same tree without counts, in a file of its own.
    bool reopen(const char* path, std::uint32_t process, std::uint32_t thread);

  private:
    static bool is_path(const TreeNode& node, const TreeNode& wanted) {
        return node.parent == wanted.parent && node.function == wanted.function &&
               node.height_bytes == wanted.height_bytes && node.call_site == wanted.call_site;
    }
    /// Four products that do not wait for each other, since this is done at each entry.
    std::uint64_t first_place(const TreeNode& node) const {
        constexpr std::uint64_t of_parent = 0x9e3779b97f4a7c15U, of_function = 0xc2b2ae3d27d4eb4fU,
                                of_height = 0x165667b19e3779f9U, of_site = 0xd6e8feb86659fd93U;
        const std::uint64_t hash = (node.parent * of_parent + node.function * of_function) +
                                   (node.height_bytes * of_height + node.call_site * of_site);
        return hash >> place_shift_;
    }
    std::uint32_t searched_child(const TreeNode& wanted);
    bool grow_file();
    bool grow_places();
    void place(std::uint32_t node);

    int file_ = -1;
    TreeHeader* header_ = nullptr;
    TreeNode* nodes_ = nullptr;
    std::uint64_t file_bytes_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t* places_ = nullptr;
    std::uint64_t place_count_ = 0;
    /// A place is the upper bits of a hash.
    unsigned place_shift_ = 0;
};

}  // namespace steelyard
