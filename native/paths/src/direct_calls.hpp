// The calls of a program that can be led through code of ours, and what is known of the functions
// that they call.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "call_frames.hpp"
#include "growable_frames.hpp"
#include "plan.hpp"

namespace steelyard {

/// A call of one function by another, by its address.
struct DirectCall {
    std::uint64_t address, caller, callee;
    /// From the stack pointer before the call to the CFA of the caller; 0 where it is not known.
    std::int64_t distance;
    /// Whether no argument can be at the top of the stack of the caller.
    bool passes_no_stack;
};

/// What matters for calls of a function.
struct CalledFunction {
    std::uint64_t start;
    /// Functions that it leaves to by jumps, with nothing of its own on the stack.
    std::vector<std::uint64_t> leaves_to;
    /// It may leave to code that is not known here; it may call such code.
    bool leaves_unknown = false, calls_unknown = false;
    /// Why it is not seen that it uses nothing above its return address, nor that; empty otherwise.
    std::string reason;
};

struct ProgramCalls {
    std::vector<DirectCall> calls;
    std::vector<CalledFunction> functions;
};

/// Reads all code of the functions.
ProgramCalls direct_calls(std::span<const PlannedFunction> functions, CodeBytes code,
                          CallFrames& frames);

/// Addresses that code computes from where it is.
std::unordered_set<std::uint64_t> computed_addresses(std::span<const PlannedFunction> functions,
                                                     CodeBytes code);

/// Addresses that code computes or has as a number: starts of functions that may be called by them.
std::unordered_set<std::uint64_t> addresses_in_code(std::span<const PlannedFunction> functions,
                                                    CodeBytes code);

}  // namespace steelyard
