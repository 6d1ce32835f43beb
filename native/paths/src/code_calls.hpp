// Which functions of a program call which others, and how much higher the stack is in them; read
// from its code, without running it (Mytkowicz 2010, section 5.3.1).

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "passed_arguments.hpp"

namespace steelyard {

/// One way from a function to another.
struct Transfer {
    enum class To : std::uint8_t {
        function,  ///< of the program
        pointer,   ///< whatever address a register or a word of memory holds
        held,      ///< of the program, one of those that a pointer may hold there
        library,
    };
    std::uint64_t from;
    To to;
    /// Whether the function is left by a jump, and is gone.
    bool is_jump;
    /// From the canonical frame address of `from` down to that of the other; nothing where it
    /// varies.
    std::optional<std::int64_t> bytes;
    /// The function; of a pointer, where it stands behind the address in a register, if it does.
    std::optional<std::uint64_t> place;
    std::string symbol;  ///< of a library
    /// How many arguments are passed to a pointer's function in registers at most.
    unsigned arguments = PassedArguments::most;

    auto operator<=>(const Transfer&) const = default;
};

/// Functions are named by their start.
struct CallGraph {
    std::vector<std::uint64_t> functions;
    std::map<std::uint64_t, std::uint64_t> parts;  ///< of which function
    std::set<Transfer> transfers;
    /// Functions whose address is in data or in code, and those that other files can name.
    std::set<std::uint64_t> taken, exported;
    /// How many arguments taken functions read from registers at least; those with some.
    std::map<std::uint64_t, unsigned> read;
    /// Functions whose address is in tables of virtual functions alone, and how far behind the
    /// address that objects hold of their table.
    std::map<std::uint64_t, std::set<std::uint64_t>> in_tables;
    std::map<std::uint64_t, std::string> varying;  ///< where the stack in use varies, and why
    std::optional<std::uint64_t> first;            ///< `main`
    std::vector<std::uint64_t> initial, final;
};

/// Throws Fatal as `plan_of` does.
CallGraph call_graph_of(const std::string& path);

}  // namespace steelyard
