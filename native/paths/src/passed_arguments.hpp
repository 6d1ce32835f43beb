// How many arguments functions read from registers, and how many calls pass in them: a call by a
// pointer leads to no function that reads more than it passes.
//
// V. van der Veen et al., *A Tough Call: Mitigating Advanced Code-Reuse Attacks at the Binary
// Level*, IEEE Symposium on Security and Privacy, 2016, sections IV.A and IV.B. What is found is a
// bound each: not fewer than a function reads, not more than a call passes. It does not hold for
// arguments that the caller leaves undefined and the callee reads all the same.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "register_effects.hpp"

namespace steelyard {

/// One instruction, as far as arguments go.
struct ArgumentStep {
    enum class Way : std::uint8_t {
        onward,
        padding,       ///< onward, where something leads to it
        branch,        ///< to `target` or onward
        jump,          ///< to `target`
        table,         ///< to one of the function's tables
        call,          ///< of `target`; 0: of a library
        pointer_call,  ///< of whatever a pointer holds
        pointer_jump,
        end,
    };
    std::uint64_t address;
    std::uint8_t length;
    Way way;
    RegisterEffects effects;
    std::uint64_t target;
    /// The register that is copied into another one, as a set: it is read where that is.
    std::uint16_t copied = 0;
};

class PassedArguments {
  public:
    static constexpr unsigned most = 6;  ///< integers in registers (System V ABI for AMD64, 3.2.3)

    /// A function with all of its parts, in the order of their addresses. `tables` has the places
    /// that its tables lead to; empty where it has some that cannot be read. It names so many
    /// arguments, if it has variable ones too.
    void add(std::uint64_t function, const std::vector<ArgumentStep>& steps,
             const std::vector<std::uint64_t>& tables, unsigned named = most);
    /// After all functions.
    void find();

    /// How many a function reads at least.
    unsigned read_by(std::uint64_t function) const;
    /// How many a call or a jump by a pointer passes at most.
    unsigned passed_at(std::uint64_t address) const;

  private:
    /// Argument registers, a bit for each in their order.
    using Registers = std::uint8_t;
    static constexpr std::size_t nowhere = ~std::size_t{0};

    struct Step {
        std::uint64_t address;
        ArgumentStep::Way way;
        std::uint16_t reads, rewritten, copied;  ///< general registers
        Registers may_write, writes;
        std::size_t next, target;  ///< within the function
        std::size_t callee;        ///< a function
        Registers before = 0;      ///< what may be passed
        bool is_reached = false;
    };
    struct Function {
        std::uint64_t address;
        std::vector<Step> steps;
        std::vector<std::size_t> tables;
        std::vector<std::size_t> others;  ///< steps that other functions jump to
        std::vector<std::size_t> callers;
        Registers named = 0x3f, read = 0, written = 0, entered = 0x3f;
    };

    static Registers arguments_of(unsigned registers);
    static std::size_t index_of(const std::vector<ArgumentStep>& steps, std::uint64_t address);
    void link();
    void link(std::size_t function, Step& step, std::uint64_t target);
    void find_read();
    bool find_read(Function& function) const;
    void find_written();
    void find_passed();
    void pass(Function& function) const;
    void pass(Function& function, std::size_t at, Registers before) const;
    Registers behind(const Step& step, Registers before) const;
    std::vector<std::optional<Registers>> entered() const;

    std::vector<Function> functions_;
    std::vector<std::vector<std::uint64_t>> targets_;
    std::map<std::uint64_t, std::size_t> by_start_;
    std::unordered_map<std::uint64_t, Registers> passed_;
};

}  // namespace steelyard
