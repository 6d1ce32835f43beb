#include "path_tree.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <initializer_list>

namespace steelyard {

namespace {

constexpr std::uint64_t first_bytes = 1U << 14U, first_places = 1U << 10U;

unsigned shift_for(std::uint64_t places) {
    return static_cast<unsigned>(std::countl_zero(places)) + 1;
}

constexpr int shared = PROT_READ | PROT_WRITE;

// open(2) and others of the C library are where threads are cancelled.
int new_file(const char* path) {
    constexpr int mode = 0600;
    return static_cast<int>(syscall(SYS_open, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
}

std::uint32_t* new_places(std::uint64_t count) {
    void* const memory =
        mmap(nullptr, count * sizeof(std::uint32_t), shared, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::uint32_t*>(memory);
}

}  // namespace

bool PathTree::open(const char* path, std::uint32_t process, std::uint32_t thread) {
    file_ = new_file(path);
    if (file_ < 0 || ftruncate(file_, first_bytes) != 0)
        return false;
    void* const memory = mmap(nullptr, first_bytes, shared, MAP_SHARED, file_, 0);
    places_ = new_places(first_places);
    if (memory == MAP_FAILED || places_ == nullptr)
        return false;
    place_count_ = first_places;
    place_shift_ = shift_for(first_places);
    file_bytes_ = first_bytes;
    header_ = static_cast<TreeHeader*>(memory);
    nodes_ = reinterpret_cast<TreeNode*>(header_ + 1);
    capacity_ = (first_bytes - sizeof(TreeHeader)) / sizeof(TreeNode);
    header_->magic = tree_magic;
    header_->process = process;
    header_->thread = thread;
    nodes_[0] = {no_node, no_node, 0, 0, 0};
    header_->node_count = 1;
    return true;
}

std::uint64_t PathTree::found_place(const TreeNode& wanted, std::uint64_t hash) const {
    // The root is nobody's child: zero marks a free place.
    const auto ends_here = [&](std::uint64_t at) {
        return places_[at] == 0 || is_path(nodes_[places_[at]], wanted);
    };
    const std::uint64_t near = near_place(wanted, hash);
    // Both are in one line of the cache.
    for (const std::uint64_t at : {near, near ^ 1U}) {
        if (ends_here(at))
            return at;
    }
    std::uint64_t at = far_place(hash);
    while (!ends_here(at))
        at = (at + 1) & (place_count_ - 1);
    return at;
}

std::uint32_t PathTree::searched_child(const TreeNode& wanted, std::uint64_t hash) {
    const std::uint64_t at = found_place(wanted, hash);
    if (places_[at] != 0)
        return places_[at];
    const auto index = static_cast<std::uint32_t>(header_->node_count);
    if (index == capacity_ && !grow_file())
        return no_node;
    nodes_[index] = wanted;
    header_->node_count = index + 1;
    places_[at] = index;
    if (places_a_node * std::uint64_t{index} >= place_count_ && !grow_places())
        return no_node;
    return index;
}

bool PathTree::grow_file() {
    const std::uint64_t bytes = 2 * file_bytes_;
    if (ftruncate(file_, static_cast<off_t>(bytes)) != 0)
        return false;
    void* const memory = mremap(header_, file_bytes_, bytes, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED)
        return false;
    file_bytes_ = bytes;
    header_ = static_cast<TreeHeader*>(memory);
    nodes_ = reinterpret_cast<TreeNode*>(header_ + 1);
    capacity_ = static_cast<std::uint32_t>((bytes - sizeof(TreeHeader)) / sizeof(TreeNode));
    return true;
}

bool PathTree::grow_places() {
    std::uint32_t* const larger = new_places(2 * place_count_);
    if (larger == nullptr)
        return false;
    munmap(places_, place_count_ * sizeof(std::uint32_t));
    places_ = larger;
    place_count_ *= 2;
    place_shift_ = shift_for(place_count_);
    for (std::uint32_t node = 1; node < header_->node_count; ++node)
        places_[found_place(nodes_[node], hash_of(nodes_[node]))] = node;
    return true;
}

void PathTree::close() {
    if (header_ != nullptr)
        munmap(header_, file_bytes_);
    if (places_ != nullptr)
        munmap(places_, place_count_ * sizeof(std::uint32_t));
    if (file_ >= 0)
        syscall(SYS_close, file_);
    *this = PathTree();
}

bool PathTree::reopen(const char* path, std::uint32_t process, std::uint32_t thread) {
    const int file = new_file(path);
    if (file < 0 || ftruncate(file, static_cast<off_t>(file_bytes_)) != 0)
        return false;
    void* const memory = mmap(nullptr, file_bytes_, shared, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return false;
    auto* const header = static_cast<TreeHeader*>(memory);
    auto* const nodes = reinterpret_cast<TreeNode*>(header + 1);
    for (std::uint64_t node = 0; node < header_->node_count; ++node) {
        nodes[node] = nodes_[node];
        nodes[node].count = 0;
    }
    *header = *header_;
    header->process = process;
    header->thread = thread;
    header->lost = header->guessed = 0;
    munmap(header_, file_bytes_);
    syscall(SYS_close, file_);
    file_ = file;
    header_ = header;
    nodes_ = nodes;
    return true;
}

}  // namespace steelyard
