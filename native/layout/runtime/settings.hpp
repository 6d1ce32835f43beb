// What this run is to randomise, by the variables STEELYARD_LAYOUT..., else by what was asked for
// at the link.

#pragma once

#include <cstdint>

#include "table.hpp"

namespace steelyard::layout {

/// How this run is to be randomised: the environment's word, else that of the link.
struct Settings {
    std::uint32_t parts = 0;
    std::uint64_t interval_ns = 0;
    std::uint64_t seed = 0;
    const char* base = nullptr;    ///< the allocator below the shuffled heap; null: our own
    const char* report = nullptr;  ///< the file for the report at the end
    bool own_malloc = false;       ///< the program has a malloc of its own, which stays
    bool parts_given = false, interval_given = false, seed_given = false;

    bool has(Part part) const { return (parts & part) != 0; }
};

/// The program's environment before libc knows it: the vector that the kernel laid down.
char** initial_environment();
const char* variable(const char* name);

/// The settings of the environment; ends the process where they make no sense.
const Settings& settings();
/// Reads what the program was linked with, before any setting is looked at. Of the program, or of
/// the library that is preloaded.
void load_defaults();
/// What the link asked for, where the environment is silent.
void default_settings(std::uint32_t parts, std::uint64_t interval_ns, std::uint64_t seed);
/// The program has a malloc of its own: whatever was asked for, its heap is not shuffled.
void leave_heap_to_program();
/// Nothing is drawn anew while the program runs, whatever was asked for.
void draw_only_once();

}  // namespace steelyard::layout
