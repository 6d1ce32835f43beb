// How to get from a function to its caller, as compilers describe it in .eh_frame (DWARF 5, section
// 6.4; System V ABI for x86-64, section 3.7).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "elf_file.hpp"

namespace steelyard {

/// The registers of x86-64 by their numbers in DWARF; 16 is the address of the instruction.
constexpr std::size_t register_count = 17;
constexpr std::size_t frame_register = 6, stack_register = 7, address_register = 16;
using Registers = std::array<std::uint64_t, register_count>;

/// Where a value of the caller is.
struct Rule {
    enum class Kind : std::uint8_t {
        same,           ///< unchanged
        undefined,      ///< lost; of the address: there is no caller
        at_offset,      ///< in memory, so far from the frame's address
        offset,         ///< the frame's address plus so much
        in_register,    ///< in another register, plus an offset
        at_expression,  ///< in memory where an expression says
        expression      ///< what an expression gives
    };
    Kind kind = Kind::same;
    std::uint8_t other_register = 0;
    std::int64_t distance = 0;
    std::span<const std::byte> program;
};

/// All that takes one instruction's frame to that of its caller.
struct FrameRules {
    Rule frame_address;
    std::array<Rule, register_count> registers{};
    bool of_signal = false;  ///< the caller was interrupted, and not calling
};

/// The frames of one file. Not for several threads at once.
class CallFrames {
  public:
    explicit CallFrames(std::unique_ptr<ElfFile> elf);

    /// The rules at a virtual address of the file; nothing where it says nothing about that.
    const FrameRules* at(std::uint64_t address);

    const ElfFile& elf() const { return *elf_; }

  private:
    /// Operations, and where in the file they stand.
    struct Program {
        std::span<const std::byte> bytes;
        std::uint64_t address = 0;
    };
    struct Common {
        std::uint64_t code_factor = 1;
        std::int64_t data_factor = 1;
        std::uint8_t pointer_encoding = 0;
        bool has_augmentation = false;
        bool of_signal = false;
        std::uint8_t return_register = address_register;
        Program program;
    };
    struct Function {
        std::uint64_t start, end;
        std::size_t common;
        Program program;
    };

    void read_all();
    Common read_common(std::span<const std::byte> entry, std::uint64_t address) const;
    std::optional<FrameRules> rules_at(std::uint64_t address) const;

    std::unique_ptr<ElfFile> elf_;
    std::vector<Common> commons_;
    std::vector<Function> functions_;  // by start
    std::unordered_map<std::uint64_t, std::optional<FrameRules>> known_;
};

}  // namespace steelyard
