// What a program notes of the stack of each thread as that begins, in a file that the sampler
// reads.

#pragma once

#include <cstdint>

namespace steelyard {

struct StackNote {
    std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint64_t stack_pointer = 0;   ///< of the caller of the thread's function
    std::uint64_t return_address = 0;  ///< in that caller; 0: the stack begins at the stack pointer
    std::uint64_t frame_pointer = 0;
};

}  // namespace steelyard
