// Finds the callers of a sampled function in the copy of its stack.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "call_frames.hpp"

namespace steelyard {

/// What is copied with a sample, so that callers can be found afterwards.
struct StackCopy {
    Registers registers{};
    std::span<const std::byte> bytes;  ///< from the stack pointer up
};

/// A place in a file that an address was mapped from.
struct FilePlace {
    const std::string* path = nullptr;
    std::uint64_t offset = 0;
    /// The process that has it mapped, which may see other files under the same path; 0: this one.
    std::uint32_t process = 0;
    /// Of the file; null or empty where it is not known.
    const std::string* build_id = nullptr;
};
using Lookup = std::function<std::optional<FilePlace>(std::uint64_t address)>;

/// Walks by .eh_frame, and by the frame pointer through code that has none, such as compiled at run
/// time. It ends where the program began, where the copy ends, or where nothing is known.
class Unwinder {
  public:
    /// The sampled address and the return addresses above it, innermost first.
    const std::vector<std::uint64_t>& chain(const StackCopy& copy, const Lookup& lookup);

    /// The same, which ends with the first address of which that is said.
    const std::vector<std::uint64_t>& chain_until(
        const std::function<bool(std::uint64_t)>& is_enough, const StackCopy& copy,
        const Lookup& lookup);

    /// The caller of code that has no frame of its own at this instruction, by the tables of its
    /// file: walking frame pointers leaves it out. Nothing where the code has a frame, or where no
    /// table says.
    std::optional<std::uint64_t> frameless_caller(const StackCopy& copy, const Lookup& lookup);

    /// Where the frame begins of a function that was left to this return address: its stack
    /// pointer and its frame pointer are as after that. Nothing where no table says.
    std::optional<std::uint64_t> frame_of_caller(const Registers& registers, const Lookup& lookup);

    /// Where in memory the function begins that an address is in, by the tables of its file; of a
    /// return address `back` is 1. Nothing where no table covers it.
    std::optional<std::uint64_t> function_at(std::uint64_t address, std::uint64_t back,
                                             const Lookup& lookup);
    /// The same as the linker of its file gave it.
    std::optional<std::uint64_t> linked_function_at(std::uint64_t address, std::uint64_t back,
                                                    const Lookup& lookup);
    /// Where the frame of sampled code begins (the canonical frame address), by its registers.
    std::optional<std::uint64_t> frame_at(const StackCopy& copy, const Lookup& lookup);

    /// Where functions of a file begin and end, by its tables, as offsets in the file.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> functions_in(const FilePlace& place);

    /// The same as `chain` up to the first address in the file `end`, which is the last of the
    /// chain; the registers there. Nothing where the walk ended before.
    std::optional<Registers> registers_in(std::string_view end, const StackCopy& copy,
                                          const Lookup& lookup);

    const std::vector<std::uint64_t>& last_chain() const { return chain_; }

    /// Whether the last chain goes back to where its thread began.
    bool reached_start() const { return reached_start_; }

  private:
    void walk(const StackCopy& copy, const Lookup& lookup);
    std::optional<std::uint64_t> frame_by(const StackCopy& copy, std::uint64_t back,
                                          const Lookup& lookup);
    const UnwindRow* row_at(const FilePlace& place, std::uint64_t back);
    CallFrames* frames_of(const FilePlace& place);

    std::unordered_map<std::string, std::unique_ptr<CallFrames>> files_;
    std::vector<std::uint64_t> chain_;
    bool reached_start_ = false;
    std::string_view end_;  // the file that ends a walk; empty: none does
    const std::function<bool(std::uint64_t)>* is_enough_ = nullptr;  // null: nothing is
    std::optional<Registers> at_end_;
};

}  // namespace steelyard
