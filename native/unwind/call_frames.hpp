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

/// Where a register of the caller is, in the terms of DWARF 5, section 6.4.1; CFA is the canonical
/// frame address.
struct RegisterRule {
    enum class Kind : std::uint8_t {
        same_value,     ///< unchanged
        undefined,      ///< lost; of the return address: there is no caller
        offset,         ///< in memory, at the CFA plus `distance`
        val_offset,     ///< the CFA plus `distance`
        in_register,    ///< in another register, plus `distance`
        expression,     ///< in memory, at the address that an expression gives
        val_expression  ///< what an expression gives
    };
    Kind kind = Kind::same_value;
    std::uint8_t other_register = 0;
    std::int64_t distance = 0;
    std::span<const std::byte> program;
};

/// One row of the call frame table: what takes the frame at an instruction to that of its caller.
struct UnwindRow {
    RegisterRule cfa;
    std::array<RegisterRule, register_count> registers{};
    bool of_signal = false;  ///< the caller was interrupted, and not calling
};

/// The frames of one file. Not for several threads at once.
class CallFrames {
  public:
    explicit CallFrames(std::unique_ptr<ElfFile> elf);

    /// The row at a virtual address of the file; nothing where it says nothing about that.
    const UnwindRow* at(std::uint64_t address);

    const ElfFile& elf() const { return *elf_; }

  private:
    /// Call frame instructions, and where in the file they stand.
    struct Program {
        std::span<const std::byte> bytes;
        std::uint64_t address = 0;
    };
    /// Common information entry.
    struct Cie {
        std::uint64_t code_factor = 1;
        std::int64_t data_factor = 1;
        std::uint8_t pointer_encoding = 0;
        bool has_augmentation = false;
        bool of_signal = false;
        std::uint8_t return_register = address_register;
        Program program;
    };
    /// Frame description entry.
    struct Fde {
        std::uint64_t start, end;
        std::size_t cie;
        Program program;
    };

    void read_all();
    Cie read_cie(std::span<const std::byte> entry, std::uint64_t address) const;
    std::optional<UnwindRow> row_at(std::uint64_t address) const;

    std::unique_ptr<ElfFile> elf_;
    std::vector<Cie> cies_;
    std::vector<Fde> fdes_;  // by start
    std::unordered_map<std::uint64_t, std::optional<UnwindRow>> known_;
};

}  // namespace steelyard
