// The analysis of a linked program: its functions, what each refers to, and why some cannot move.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode.hpp"
#include "elf_image.hpp"
#include "table.hpp"

namespace steelyard::layout {

/// The runtime moves the others and stays itself: what it defines for C lies in this section, and
/// the rest in its namespace.
constexpr std::string_view runtime_section = "steelyard_text";
inline bool is_of_runtime(const Symbol& symbol) {
    return symbol.name.find("9steelyard6layout") != std::string::npos;
}

/// A PC-relative field of a function, with the address that it leads to.
struct FieldUse {
    std::uint32_t offset;  ///< of the field in its function
    Field kind;
    std::uint8_t bytes;
    std::uint64_t target;
    bool backward;  ///< a jump to a place before it
};

/// A basic block, as the table has it.
using Block = BlockEntry;

/// A stretch of code that a symbol names.
struct Function {
    std::string name;
    std::uint64_t start = 0, end = 0;
    std::uint64_t room_end = 0;  ///< where the next one starts
    std::string exempted;        ///< why it stays where it is; empty: it moves
    std::vector<FieldUse> fields;
    std::map<std::uint64_t, std::uint32_t> jump_tables;  ///< address to size
    std::vector<std::uint64_t> pads;                     ///< addresses of the pad's immediates
    std::vector<std::uint64_t> labels;                   ///< sorted once the analysis is done
    std::vector<Block> blocks;                           ///< more than one, or none
    std::string uncut;                                   ///< why it is not cut into blocks
    std::string unpadded;          ///< why its pads are not used; empty: they are, if there are any
    bool checks_depth = false;     ///< calls of it are to look how deep the stack is
    bool is_decoded = false;       ///< to its last byte
    bool switches_stacks = false;  ///< what it does with the stack pointer, no compiler writes

    bool moves() const { return exempted.empty(); }
    bool holds_inside(std::uint64_t address) const { return address > start && address < end; }
    void exempt(const std::string& reason) {
        if (moves())
            exempted = reason;
    }
};

/// All functions of a program, by address.
class Functions {
  public:
    /// Finds the functions of `image`, decodes them, and exempts those that cannot move.
    explicit Functions(const ElfImage& image);

    const std::vector<Function>& all() const { return all_; }
    /// The index of the function that holds `address`, or -1.
    std::ptrdiff_t find(std::uint64_t address) const;
    /// Where functions of the runtime lie, which are none of these.
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& of_runtime() const {
        return of_runtime_;
    }

  private:
    void collect();
    void collect_unmarked();
    void exempt_what_is_known_by_address();
    void exempt_go();
    void exempt_by_return_places();
    void decode_all();
    void check_against_relocations();
    void find_jump_tables();
    void place_labels();
    void find_pads();
    void choose_depth_checks();
    std::vector<std::vector<std::size_t>> find_callees();
    void check_depth_at(std::uint64_t address);
    bool is_field(std::uint64_t address) const;
    void exempt_by_what_others_need();
    void cut_into_blocks();
    std::vector<std::uint64_t> table_targets(const Function& function) const;
    bool need_label(std::uint64_t address);
    bool is_entry(std::uint64_t address) const;
    void take_jump_table(std::uint64_t start, std::size_t user);

    const ElfImage& image_;
    std::vector<Relocation> relocations_;
    std::vector<Function> all_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> of_runtime_;
};

}  // namespace steelyard::layout
