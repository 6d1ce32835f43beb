// How much stack a function has in use at each of its instructions.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "call_frames.hpp"
#include "growable_frames.hpp"
#include "stack_use.hpp"

namespace steelyard {

/// The number that is added to the registers of an operand in memory.
std::int64_t displacement_of(const Instruction& instruction, std::span<const std::uint8_t> code);

/// One instruction of a function.
struct CodeStep {
    std::uint64_t address;
    Instruction instruction;
    StackUse use;
    /// From the stack pointer to the canonical frame address before it; nothing where that varies
    /// or is not known.
    std::optional<std::int64_t> depth;

    std::uint64_t next() const { return address + instruction.length; }
};

/// The instructions of a function with its parts that lie elsewhere.
///
/// Frame tables say the depth where the frame is found by the stack pointer. Where it is found by a
/// frame pointer, changes of the stack pointer are followed from the entry on all ways; a call that
/// may not return gives the depth behind it only where nothing else does.
class StackDepths {
  public:
    /// `parts` has the one that begins at `entry` too. Instructions behind one that cannot be
    /// decoded are left out.
    StackDepths(std::uint64_t entry, std::vector<std::pair<std::uint64_t, std::uint64_t>> parts,
                CodeBytes code, CallFrames& frames);

    std::uint64_t entry() const { return entry_; }
    const std::vector<CodeStep>& steps() const { return steps_; }
    /// The bytes of an instruction, and those behind it.
    std::span<const std::uint8_t> bytes_of(const CodeStep& step) const;
    /// Why some depths are not known; empty where all are.
    const std::string& reason() const { return reason_; }

  private:
    struct State {
        enum class Kind : std::uint8_t { unset, known, varies };
        Kind kind = Kind::unset;
        bool is_sure = false;
        std::int64_t depth = 0;
    };

    void read(std::uint64_t start, std::uint64_t end);
    void note_tables();
    void follow(std::uint64_t entry);
    void run();
    void leave(std::size_t index);
    void arrive(std::uint64_t address, State state);
    State after(std::size_t index);
    std::optional<std::size_t> index_of(std::uint64_t address) const;
    std::optional<std::size_t> first_unset() const;
    std::int64_t usual_depth() const;
    void vary(const char* reason);

    std::uint64_t entry_;
    CodeBytes code_;
    CallFrames& frames_;
    std::vector<CodeStep> steps_;
    std::vector<State> states_;
    /// Where the table says it by the stack pointer, and where by the frame pointer.
    std::vector<std::optional<std::int64_t>> by_stack_, by_frame_;
    std::vector<std::size_t> waiting_;
    std::vector<std::pair<std::size_t, State>> behind_calls_;
    std::string reason_;
};

}  // namespace steelyard
