#include "sample_record.hpp"

#include <array>
#include <cstring>
#include <span>

namespace steelyard {

namespace {

// The bits of the registers wanted, in asm/perf_regs.h, and the order in which they come.
#if defined(__x86_64__)
constexpr std::uint64_t base_pointer_bit = 6, stack_pointer_bit = 7, address_bit = 8;
// Their numbers in DWARF, by rising bit: ax bx cx dx si di bp sp ip, and r8 to r15.
constexpr std::uint64_t copied_registers = 0xff01ffULL;
constexpr std::array<std::size_t, register_count> copied_numbers{0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                                 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__aarch64__)
constexpr std::uint64_t base_pointer_bit = 29, stack_pointer_bit = 31, address_bit = 32;
constexpr std::uint64_t copied_registers = 0;
constexpr std::array<std::size_t, 0> copied_numbers{};
#else
#error "The sampler knows the registers of x86-64 and AArch64."
#endif
constexpr std::uint64_t registers_wanted =
    (1ULL << base_pointer_bit) | (1ULL << stack_pointer_bit) | (1ULL << address_bit);

// Copied with each sample where a word of the frame is asked for: a frame of HotSpot's interpreter
// keeps at most some tens of words between the top of its stack and what stands below its base.
constexpr std::uint32_t frame_bytes = 1024;
// Copied with each chain by frame pointers. Functions without a frame keep little on the stack.
constexpr std::uint32_t leaf_bytes = 512;
// Where callers are looked for: as much as a record may hold, in whole pages.
constexpr std::uint32_t stack_bytes = 32U << 10U;

/// Takes values from a record, one after the other, and knows when it has ended.
class Cursor {
  public:
    explicit Cursor(const RawRecord& record) : at_(record.body), left_(record.body_bytes) {}

    template <typename Value>
    Value take() {
        Value value{};
        if (left_ < sizeof value) {
            cut_short_ = true;
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        skip(sizeof value);
        return value;
    }

    const std::byte* take_bytes(std::size_t bytes) {
        if (left_ < bytes) {
            cut_short_ = true;
            return nullptr;
        }
        const std::byte* here = at_;
        skip(bytes);
        return here;
    }

    bool cut_short() const { return cut_short_; }

  private:
    void skip(std::size_t bytes) {
        at_ += bytes;
        left_ -= bytes;
    }

    const std::byte* at_;
    std::size_t left_;
    bool cut_short_ = false;
};

/// The part of the stack that was copied, from the stack pointer up.
std::span<const std::byte> take_stack(Cursor& cursor) {
    const auto size = cursor.take<std::uint64_t>();
    if (size == 0)
        return {};
    const std::byte* const copy = cursor.take_bytes(static_cast<std::size_t>(size));
    const auto copied = cursor.take<std::uint64_t>();
    if (copy == nullptr || copied > size)
        return {};
    return {copy, static_cast<std::size_t>(copied)};
}

/// The word at `address` in the copy, which begins at the stack pointer; 0 where it has none.
std::uint64_t word_in(std::span<const std::byte> copy, std::uint64_t stack_pointer,
                      std::uint64_t address) {
    const std::uint64_t offset = address - stack_pointer;
    std::uint64_t word = 0;
    if (address >= stack_pointer && copy.size() >= sizeof word &&
        offset <= copy.size() - sizeof word)
        std::memcpy(&word, copy.data() + offset, sizeof word);
    return word;
}

void take_registers(Cursor& cursor, Depth depth, Sample& sample) {
    if (cursor.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    if (depth.stack_copy) {
        for (const std::size_t number : copied_numbers)
            sample.copy.registers[number] = cursor.take<std::uint64_t>();
        sample.base_pointer = sample.copy.registers[frame_register];
        sample.stack_pointer = sample.copy.registers[stack_register];
        sample.user_address = sample.copy.registers[address_register];
        return;
    }
    sample.base_pointer = cursor.take<std::uint64_t>();
    sample.stack_pointer = cursor.take<std::uint64_t>();
    sample.user_address = cursor.take<std::uint64_t>();
    sample.copy.registers[frame_register] = sample.base_pointer;
    sample.copy.registers[stack_register] = sample.stack_pointer;
    sample.copy.registers[address_register] = sample.user_address;
}

}  // namespace

std::uint64_t registers_of(Depth depth) {
    return depth.stack_copy ? copied_registers : registers_wanted;
}

std::uint32_t bytes_copied(Depth depth) {
    if (depth.stack_copy)
        return stack_bytes;
    if (depth.word_below_frame > 0)
        return frame_bytes;
    return depth.frame_pointers && copied_registers != 0 ? leaf_bytes : 0;
}

std::optional<Sample> sample_from(const RawRecord& record, Depth depth) {
    Cursor cursor(record);
    Sample sample;
    const auto mode = record.header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    sample.in_kernel = mode == PERF_RECORD_MISC_KERNEL;
    sample.address = cursor.take<std::uint64_t>();
    sample.process = cursor.take<std::uint32_t>();
    sample.thread = cursor.take<std::uint32_t>();
    sample.time_ns = cursor.take<std::uint64_t>();
    cursor.take<std::uint64_t>();  // of the event
    sample.cpu = cursor.take<std::uint32_t>();
    cursor.take<std::uint32_t>();  // reserved
    if (depth.frame_pointers) {
        const auto length = cursor.take<std::uint64_t>();
        if (length > record.body_bytes)
            return std::nullopt;
        sample.chain_length = static_cast<std::size_t>(length);
        sample.chain = reinterpret_cast<const std::uint64_t*>(
            cursor.take_bytes(sample.chain_length * sizeof(std::uint64_t)));
    }
    take_registers(cursor, depth, sample);
    if (bytes_copied(depth) > 0)
        sample.copy.bytes = take_stack(cursor);
    if (depth.word_below_frame > 0)
        sample.frame_word = word_in(sample.copy.bytes, sample.stack_pointer,
                                    sample.base_pointer - depth.word_below_frame);
    if (cursor.cut_short())
        return std::nullopt;
    return sample;
}

Origin origin_of(const RawRecord& record) {
    Cursor cursor(record);
    cursor.take<std::uint64_t>();  // address
    cursor.take<std::uint64_t>();  // process and thread
    Origin origin;
    origin.time_ns = cursor.take<std::uint64_t>();
    origin.event = cursor.take<std::uint64_t>();
    return origin;
}

}  // namespace steelyard
