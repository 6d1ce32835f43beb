// The samples that the kernel writes: what is asked for in them, and reading them.

#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ring.hpp"
#include "unwinder.hpp"

namespace steelyard {

/// What each sample holds beyond where the thread was.
struct Depth {
    /// The chain of return addresses, by frame pointers, with a copy of what is on top of the
    /// stack: code without a frame of its own has its caller there.
    bool frame_pointers = false;
    bool stack_copy = false;  ///< what it takes to find that chain by .eh_frame
    /// The word that stands so many bytes below the base pointer; 0: none. Interpreters that keep
    /// there what they interpret can be seen through.
    std::uint64_t word_below_frame = 0;
};

/// One sample, as the kernel wrote it.
struct Sample {
    std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t cpu = 0;
    bool in_kernel = false;
    std::uint64_t address = 0;       ///< of the instruction, the kernel's if it was there
    std::uint64_t user_address = 0;  ///< where the program itself was; 0 where it has no registers
    std::uint64_t stack_pointer = 0;
    std::uint64_t base_pointer = 0;
    std::uint64_t frame_word = 0;  ///< the word asked for; 0 where it is not near the stack's top
    const std::uint64_t* chain = nullptr;
    std::size_t chain_length = 0;
    StackCopy copy;
};

/// What `sample_from` reads of every sample.
constexpr std::uint64_t sample_fields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                        PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER;

/// The bits of the registers that come with a sample; 0 where stacks cannot be copied.
std::uint64_t registers_of(Depth depth);

/// How much of the stack is copied with each sample.
std::uint32_t bytes_copied(Depth depth);

/// Reads a PERF_RECORD_SAMPLE of a `SamplingEvent`; nothing where it is cut short.
std::optional<Sample> sample_from(const RawRecord& record, Depth depth);

/// Which event took a sample, and when; zeros where it is cut short.
struct Origin {
    std::uint64_t event = 0;
    std::uint64_t time_ns = 0;
};
Origin origin_of(const RawRecord& record);

}  // namespace steelyard
