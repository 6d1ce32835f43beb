// Reads the layout table and the original bytes of code, from the file of the program or of a
// shared library.

#pragma once

#include <elf.h>

#include <cstdint>

#include "table.hpp"

namespace steelyard::layout {

/// The running program as it lies in its file, with its layout table. Or a shared library.
class Program {
  public:
    /// Maps the file of what lies at `image` and finds the table. What is wrong, or null.
    const char* load(const Elf64_Ehdr* image, const char* path);
    void unload();
    /// Lets the kernel count no pages of the file as the program's until they are read again.
    void forget_pages() const;

    const TableHeader& header() const { return *header_; }
    std::uint32_t function_count() const { return header_->function_count; }
    const FunctionEntry& function(std::uint32_t index) const { return functions_[index]; }
    const Fixup& fixup(std::uint32_t index) const { return fixups_[index]; }
    const JumpTable& jump_table(std::uint32_t index) const { return jump_tables_[index]; }
    const BlockEntry& block(std::uint32_t index) const { return blocks_[index]; }
    std::uint32_t block_count(std::uint32_t function) const {
        return functions_[function + 1].first_block - functions_[function].first_block;
    }
    const Label& label(std::uint32_t index) const { return labels_[index]; }
    /// The offset of an immediate in its function.
    std::uint32_t pad(std::uint32_t index) const { return pads_[index]; }
    /// A byte that is a `ret` in code of the image that stays; null where there is none.
    const std::uint8_t* find_return() const;
    const char* exempted() const { return exempted_; }

    /// Where an address of the link lies in this process.
    std::uint64_t address(std::uint64_t linked) const { return bias_ + linked; }
    std::uint64_t original(std::uint32_t index) const { return address(functions_[index].start); }
    /// What the file holds there: the originals in memory are overwritten.
    const std::uint8_t* pristine(std::uint64_t linked) const {
        const bool is_code = linked >= code_low_ && linked < code_high_;
        return is_code ? code_ + (linked - code_low_) : pristine_elsewhere(linked);
    }

  private:
    const char* find_table();
    void find_code();
    const std::uint8_t* pristine_elsewhere(std::uint64_t linked) const;

    const std::uint8_t* file_ = nullptr;
    std::uint64_t file_size_ = 0;
    std::uint64_t bias_ = 0;
    std::uint64_t code_low_ = 0, code_high_ = 0;  ///< of the segment that is asked for most
    const std::uint8_t* code_ = nullptr;
    const TableHeader* header_ = nullptr;
    const FunctionEntry* functions_ = nullptr;
    const Fixup* fixups_ = nullptr;
    const JumpTable* jump_tables_ = nullptr;
    const Label* labels_ = nullptr;
    const BlockEntry* blocks_ = nullptr;
    const std::uint32_t* pads_ = nullptr;
    const char* exempted_ = nullptr;
};

}  // namespace steelyard::layout
