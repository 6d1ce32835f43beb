// Which functions stand at addresses: the one whose code it is, and those inlined there.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "debug_file.hpp"

namespace steelyard {

/// Functions by their number; at each address the outermost first.
class Inlining {
  public:
    /// Addresses in rising order; `code` are the ranges that hold code at all.
    Inlining(std::vector<std::uint64_t> addresses, std::vector<Range> code);

    /// Whether an address may be in the unit: by its ranges, or since it tells of none.
    bool may_be_in(const Unit& unit) const;
    /// Adds what the unit says of the addresses. What is behind a damaged entry is left out.
    void add(const Unit& unit);

    const std::vector<std::uint64_t>& addresses() const { return addresses_; }
    /// The numbers of the functions at each address.
    const std::vector<std::vector<std::uint32_t>>& chains() const { return chains_; }
    const std::vector<Place>& functions() const { return functions_; }
    /// The language of the unit that a function was found by; units that dwz shares have none.
    std::uint64_t language(std::size_t number) const { return languages_[number]; }
    /// Where a function's own code begins; 0 where it has none.
    std::uint64_t entry(const Place& function) const;

  private:
    struct Owner {
        int depth;
        std::uint32_t number;
    };

    void walk(const Unit& unit);
    void take_function(const Unit& unit, const Die& die, std::vector<Owner>& owners, int depth);
    std::uint32_t number(const Place& place, const Unit& found_by);
    bool is_code(std::uint64_t address) const;

    std::vector<std::uint64_t> addresses_;
    std::vector<Range> code_;
    std::vector<std::vector<std::uint32_t>> chains_;
    std::vector<std::uint32_t> owner_of_;  // for each address; 0: none yet
    std::uint32_t owner_count_ = 0;
    std::vector<Place> functions_;
    std::vector<std::uint64_t> languages_;
    std::map<Place, std::uint32_t> numbers_;
    std::map<Place, std::uint64_t> entries_;
};

}  // namespace steelyard
