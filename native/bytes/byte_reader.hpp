// Reads the variable-length fields of DWARF from memory that may be damaged.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace steelyard {

/// What is read is not what it should be; whoever reads decides what that means.
struct Malformed {};

/// Takes fields one after the other; throws Malformed past the end.
class ByteReader {
  public:
    /// `address` is where the first byte lies in the file's own addresses.
    ByteReader(std::span<const std::byte> bytes, std::uint64_t address)
        : bytes_(bytes), address_(address) {}

    template <typename Value>
    Value take() {
        Value value{};
        const auto here = take_bytes(sizeof value);
        std::memcpy(&value, here.data(), sizeof value);
        return value;
    }

    std::span<const std::byte> take_bytes(std::uint64_t count) {
        if (count > bytes_.size() - at_)
            throw Malformed();
        const auto here = bytes_.subspan(at_, static_cast<std::size_t>(count));
        at_ += static_cast<std::size_t>(count);
        return here;
    }

    std::uint64_t take_uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < value_bits; shift += group_bits) {
            const auto byte = take<std::uint8_t>();
            value |= static_cast<std::uint64_t>(byte & group_mask) << shift;
            if ((byte & more_flag) == 0)
                return value;
        }
        throw Malformed();
    }

    std::int64_t take_sleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < value_bits; shift += group_bits) {
            const auto byte = take<std::uint8_t>();
            value |= static_cast<std::uint64_t>(byte & group_mask) << shift;
            if ((byte & more_flag) != 0)
                continue;
            const unsigned filled = shift + group_bits;
            if ((byte & sign_flag) != 0 && filled < value_bits)
                value |= ~std::uint64_t{0} << filled;
            return static_cast<std::int64_t>(value);
        }
        throw Malformed();
    }

    /// A pointer in one of the encodings of the Linux Standard Base, Core, section 10.5.1.
    std::uint64_t take_pointer(std::uint8_t encoding) {
        constexpr std::uint8_t relative_to_itself = 0x10, application_mask = 0x70;
        const std::uint64_t here = address();
        const std::uint64_t value = take_value(encoding);
        switch (encoding & application_mask) {
            case 0:
                return value;
            case relative_to_itself:
                return here + value;
            default:
                throw Malformed();
        }
    }

    /// The same without what it is relative to, as lengths are written.
    std::uint64_t take_value(std::uint8_t encoding) {
        enum : std::uint8_t {
            absolute = 0x00,
            uleb = 0x01,
            udata2 = 0x02,
            udata4 = 0x03,
            udata8 = 0x04,
            sleb = 0x09,
            sdata2 = 0x0a,
            sdata4 = 0x0b,
            sdata8 = 0x0c,
            format_mask = 0x0f
        };
        switch (encoding & format_mask) {
            case absolute:
            case udata8:
            case sdata8:
                return take<std::uint64_t>();
            case uleb:
                return take_uleb();
            case udata2:
                return take<std::uint16_t>();
            case udata4:
                return take<std::uint32_t>();
            case sleb:
                return static_cast<std::uint64_t>(take_sleb());
            case sdata2:
                return static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
            case sdata4:
                return static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
            default:
                throw Malformed();
        }
    }

    bool at_end() const { return at_ == bytes_.size(); }
    std::size_t position() const { return at_; }
    std::size_t remaining() const { return bytes_.size() - at_; }
    std::uint64_t address() const { return address_ + at_; }

  private:
    static constexpr unsigned value_bits = 64, group_bits = 7;
    static constexpr std::uint8_t group_mask = 0x7f, more_flag = 0x80, sign_flag = 0x40;

    std::span<const std::byte> bytes_;
    std::uint64_t address_;
    std::size_t at_ = 0;
};

}  // namespace steelyard
