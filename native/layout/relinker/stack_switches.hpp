// Recognises programs that switch stacks by themselves, whose stacks the runtime must search for in
// all of memory.

#pragma once

#include <cstdint>
#include <span>

#include "elf_image.hpp"
#include "stack_pointer.hpp"

namespace steelyard::layout {

class Functions;

/// Whether code of an image may switch stacks by itself, as coroutines do: by what its functions do
/// with the stack pointer, by what bytes that no function holds look like, and by what it calls in
/// libraries.
bool may_switch_stacks(const ElfImage& image, const Functions& functions);

/// What a function takes its stack pointer from, instruction by instruction.
class StackPointerUse {
  public:
    void add(std::span<const std::uint8_t> instruction) {
        const auto taken = stack_pointer_of(instruction.data(), instruction.size(), true);
        has_frame_ |= taken == StackPointer::from_frame;
        takes_register_ |= taken == StackPointer::of_register;
        takes_memory_ |= taken == StackPointer::of_memory;
    }
    /// A function with arrays of variable length takes its stack pointer from a register too, and
    /// ends with its frame pointer.
    bool switches_stacks() const { return takes_memory_ || (takes_register_ && !has_frame_); }

  private:
    bool has_frame_ = false, takes_register_ = false, takes_memory_ = false;
};

}  // namespace steelyard::layout
