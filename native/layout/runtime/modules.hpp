// All that moves in the process, the program and its shared libraries, and the one step that moves
// it: begin to read the runtime here.

#pragma once

#include <cstdint>

#include "code.hpp"

namespace steelyard::layout {

struct MoveCounts {
    std::uint64_t moves, freed, postponed, longest_move_ns, total_move_ns;
    std::uint64_t copy_pages, most_copy_pages;
};

/// The program, or a shared library that was built for it.
struct Module {
    Code code;
    const char* path;         ///< null: the program
    const Elf64_Ehdr* image;  ///< null once it was closed
    std::uint32_t number;     ///< in the order of coming
    std::uint32_t functions;  ///< that move, or did until it was closed
    bool moves;
};

/// All that moves in this process. `hold_moves` is around all else that changes it.
class Modules {
  public:
    /// Reads the program's layout table and what it asks for; ends the process where there is none.
    void load_program();
    /// Lays the first copies of the program.
    void start();
    /// Until they are read again, pages of the files with the tables are no memory of the program.
    void forget_files() const;
    bool is_started() const { return is_started_; }
    /// A library was loaded: it moves from now on, if it can.
    void enter(const Elf64_Ehdr* image, const char* path);
    /// A library is closed. Nobody is in it any more.
    void leave(const Elf64_Ehdr* image);

    /// Lays new copies and lets every thread of the program's process enter them; frees those that
    /// no thread can return to.
    void move(long process);
    /// Notes that `address` was found on a stack or in a register; false where it is of no copy.
    /// Safe in signal handlers.
    bool note(std::uint64_t address);
    /// The original of an address in a copy, and the distance to it; false where it is none.
    bool original(std::uint64_t address, std::uint64_t& found, std::uint64_t& distance) const;

    /// Where a frame whose address is `from` goes on, if it would go on at `wanted` were its copy
    /// as its original.
    std::uint64_t landing(std::uint64_t from, std::uint64_t wanted) const;

    /// A `ret` in the image whose copy an address is of; null where it is of none.
    const void* return_in_image(std::uint64_t address) const;

    std::uint32_t count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }
    const Module& at(std::uint32_t index) const { return *modules_[index]; }
    const MoveCounts& counts() const { return counts_; }
    /// The program switches stacks by itself: what it leaves may lie anywhere.
    void search_memory() { __atomic_store_n(&searches_, true, __ATOMIC_RELAXED); }
    bool searches_memory() const { return __atomic_load_n(&searches_, __ATOMIC_RELAXED); }
    /// Whether an address is of what is remembered of copies, which holds their addresses.
    bool keeps_books_at(std::uint64_t address) const;

  private:
    static constexpr std::uint32_t most_modules = 1024;

    Module* place_for(const char* path);
    const char* start(Module& module);
    bool settle(long process);
    bool note_everything(long process) const;
    void count_pages();

    Module* modules_[most_modules] = {};
    std::uint32_t count_ = 0;
    bool is_started_ = false;
    bool searches_ = false;
    MoveCounts counts_{};
};

Modules& modules();

}  // namespace steelyard::layout
