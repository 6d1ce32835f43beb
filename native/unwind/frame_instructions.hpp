// Call frame instructions, which make a row of the call frame table (DWARF 5, section 6.4.2).

#pragma once

#include <cstdint>
#include <vector>

#include "byte_reader.hpp"
#include "unwind_row.hpp"

namespace steelyard {

/// What a common information entry says of the operands.
struct FrameFactors {
    std::uint64_t code = 1;
    std::int64_t data = 1;
    std::uint8_t pointer_encoding = 0;
};

/// An operand that says how far the CFA is from a register.
struct FrameOffset {
    std::uint64_t address = 0;  ///< of its bytes
    std::uint64_t bytes = 0;
    std::int64_t distance = 0;
    std::uint8_t other_register = 0;
    bool is_unsigned = true;  ///< and not factored
};

/// Carries out the instructions up to an address.
class FrameInstructions {
  public:
    /// `initial` is what registers are restored to; `row` is changed.
    FrameInstructions(FrameFactors factors, const UnwindRow& initial, UnwindRow& row)
        : factors_(factors), initial_(initial), row_(row) {}

    /// Throws Malformed where they are damaged, or not known.
    void run(ByteReader reader, std::uint64_t location, std::uint64_t wanted);

    /// From here on the operands that are met are noted there.
    void note_offsets(std::vector<FrameOffset>& offsets) { offsets_ = &offsets; }

  private:
    void step(std::uint8_t operation, ByteReader& reader);
    void move(std::uint8_t operation, ByteReader& reader);
    void set_frame(std::uint8_t operation, ByteReader& reader);
    void set_register(std::uint8_t operation, ByteReader& reader);
    void set_numbered(std::uint8_t operation, std::uint64_t number, ByteReader& reader);
    void note_offset(std::uint64_t from, const ByteReader& reader, bool is_unsigned);
    std::int64_t factored(std::uint64_t count) const;
    void set(std::uint64_t number, RegisterRule::Kind kind, std::int64_t distance);
    void put(std::uint64_t number, const RegisterRule& rule);
    void restore(std::uint64_t number);

    FrameFactors factors_;
    const UnwindRow& initial_;
    UnwindRow& row_;
    std::vector<UnwindRow> remembered_;
    std::uint64_t location_ = 0;
    std::vector<FrameOffset>* offsets_ = nullptr;
};

}  // namespace steelyard
