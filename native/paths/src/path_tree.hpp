// The calling context tree of one thread, in a file of its own, so that it is there however the
// program ends (G. Ammons, T. Ball, J. Larus, PLDI 1997).

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard {

constexpr std::uint64_t tree_magic = 0x3365657274797473;  // "stytree3"
constexpr std::uint32_t no_node = UINT32_MAX;
/// Functions that align their stack to no more than this have heights that can be told for any
/// start of the stack.
constexpr std::uint64_t longest_alignment = 64;

struct TreeHeader {
    std::uint64_t magic;
    std::uint32_t process, thread;
    std::uint64_t node_count;
    std::uint64_t lost;     ///< entries that came while the recorder was at work
    std::uint64_t guessed;  ///< entries whose callers could not all be found
    /// Where the stack begins that heights are from; 0 until that is known.
    std::uint64_t stack_start;
    /// How often that became a place of another distance from a multiple of `longest_alignment`.
    std::uint64_t start_changes;
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
        const std::uint64_t hash = hash_of(wanted);
        const std::uint32_t near = places_[near_place(wanted, hash)];
        return is_path(nodes_[near], wanted) ? near : searched_child(wanted, hash);
    }
    void count(std::uint32_t node) { nodes_[node].count += 1; }
    std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
    /// Where they are until a child is new.
    TreeNode* nodes() { return nodes_; }
    TreeHeader& header() { return *header_; }
    void note_start(std::uint64_t start) {
        const std::uint64_t before = header_->stack_start;
        header_->start_changes += before != 0 && (before - start) % longest_alignment != 0;
        header_->stack_start = start;
    }
    void close();
    /// In the child of a fork: the same tree without counts, in a file of its own.
    bool reopen(const char* path, std::uint32_t process, std::uint32_t thread);

  private:
    // With fewer, more paths are not found at their first place.
    static constexpr std::uint64_t places_a_node = 4;

    static bool is_path(const TreeNode& node, const TreeNode& wanted) {
        return node.parent == wanted.parent && node.function == wanted.function &&
               node.height_bytes == wanted.height_bytes && node.call_site == wanted.call_site;
    }
    /// Four products that do not wait for each other, since this is done at each entry.
    static std::uint64_t hash_of(const TreeNode& node) {
        constexpr std::uint64_t of_parent = 0x9e3779b97f4a7c15U, of_function = 0xc2b2ae3d27d4eb4fU,
                                of_height = 0x165667b19e3779f9U, of_site = 0xd6e8feb86659fd93U;
        return (node.parent * of_parent + node.function * of_function) +
               (node.height_bytes * of_height + node.call_site * of_site);
    }
    /// Among the places of its parent, which lie near those of nodes that are as old: paths that
    /// come one after the other are found in memory that is at hand.
    std::uint64_t near_place(const TreeNode& node, std::uint64_t hash) const {
        constexpr std::uint64_t line = 64 / sizeof(std::uint32_t);
        const std::uint64_t first = places_a_node * std::uint64_t{node.parent} / line * line;
        return (first | hash >> 60U) & (place_count_ - 1);
    }
    /// Any place, for those whose parent has more children than room.
    std::uint64_t far_place(std::uint64_t hash) const { return hash >> place_shift_; }
    /// Where a node is, or is to be: its index, or zero.
    std::uint64_t found_place(const TreeNode& wanted, std::uint64_t hash) const;
    std::uint32_t searched_child(const TreeNode& wanted, std::uint64_t hash);
    bool grow_file();
    bool grow_places();

    int file_ = -1;
    TreeHeader* header_ = nullptr;
    TreeNode* nodes_ = nullptr;
    std::uint64_t file_bytes_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t* places_ = nullptr;
    std::uint64_t place_count_ = 0;
    /// A far place is the upper bits of a hash.
    unsigned place_shift_ = 0;
};

}  // namespace steelyard
