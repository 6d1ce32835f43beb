// Lays the basic blocks of one function apart in its copy, and maps offsets in the function to
// addresses in the copy and back.

#pragma once

#include <cstdint>

#include "generation.hpp"
#include "random.hpp"
#include "table.hpp"

namespace steelyard::layout {

/// Whether a function of this generation lies block by block.
bool is_cut(const Generation& generation, std::uint32_t index);
/// Draws where the blocks of a function lie in its copy, and the senses of its branches, and writes
/// them there, without what the fixups and the jump tables say.
void lay_blocks(const Generation& generation, std::uint32_t index, Random& random);
/// The offset in a function of an address in its copy; that of the block's end for one behind it.
std::uint32_t offset_in_function(const Generation& generation, std::uint32_t index,
                                 std::uint64_t address);

/// Where the parts of a function lie in its copy. Quick where asked in the order of offsets.
class CopyPlaces {
  public:
    CopyPlaces(const Generation& generation, std::uint32_t index);

    std::uint64_t address(std::uint32_t offset);
    /// Whether an offset is in the jump at the end of a block, which is written anew in each copy.
    bool is_rewritten(std::uint32_t offset);
    std::uint64_t tables() const { return tables_; }

  private:
    void seek(std::uint32_t offset);

    std::uint64_t copy_, tables_;
    const BlockEntry* blocks_ = nullptr;
    const std::uint32_t* places_ = nullptr;
    std::uint32_t count_ = 0, current_ = 0;
};

}  // namespace steelyard::layout
