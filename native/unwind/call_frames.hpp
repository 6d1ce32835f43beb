// How to get from a function to its caller, as compilers describe it in .eh_frame (DWARF 5, section
// 6.4; System V ABI for x86-64, section 3.7).

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elf_file.hpp"
#include "frame_instructions.hpp"
#include "unwind_row.hpp"

namespace steelyard {

/// The frames of one file. Not for several threads at once.
class CallFrames {
  public:
    explicit CallFrames(std::unique_ptr<ElfFile> elf);

    /// The row at a virtual address of the file; nothing where it says nothing about that.
    const UnwindRow* at(std::uint64_t address);

    /// Where the entry begins that covers an address: its function, or a part of one.
    std::optional<std::uint64_t> start_of(std::uint64_t address) const;

    /// The operands of the entry that begins at an address that say how far the CFA is from a
    /// register. Throws Malformed where the entry is damaged, or there is none.
    std::vector<FrameOffset> offsets_at(std::uint64_t start) const;

    const ElfFile& elf() const { return *elf_; }
    /// Where entries begin and end, by rising start.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges() const;

  private:
    /// Call frame instructions, and where in the file they stand.
    struct Program {
        std::span<const std::byte> bytes;
        std::uint64_t address = 0;
    };
    /// Common information entry.
    struct Cie {
        FrameFactors factors;
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
    const Fde* entry_of(std::uint64_t address) const;
    std::optional<UnwindRow> row_at(std::uint64_t address) const;

    std::unique_ptr<ElfFile> elf_;
    std::vector<Cie> cies_;
    std::vector<Fde> fdes_;  // by start
    std::unordered_map<std::uint64_t, std::optional<UnwindRow>> known_;
};

}  // namespace steelyard
