// The parts that class files are made of, read with bounds and written (JVMS chapter 4).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace steelyard {

using Bytes = std::vector<std::uint8_t>;

// Tags of constants, JVMS table 4.4-A.
constexpr std::uint8_t tag_utf8 = 1, tag_class = 7, tag_field = 9, tag_name_and_type = 12;

/// Thrown where a class file ends too early, or says what none may say.
struct Malformed {};

class Reader {
  public:
    explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint8_t u1() { return take(1)[0]; }
    std::uint16_t u2() {
        const auto part = take(2);
        return static_cast<std::uint16_t>(part[0] << 8U | part[1]);
    }
    std::uint32_t u4() {
        const std::uint32_t high = u2();
        return high << 16U | u2();
    }
    std::span<const std::uint8_t> take(std::size_t count) {
        if (count > bytes_.size() - at_)
            throw Malformed{};
        at_ += count;
        return bytes_.subspan(at_ - count, count);
    }
    std::span<const std::uint8_t> since(std::size_t begin) const {
        return bytes_.subspan(begin, at_ - begin);
    }
    std::size_t at() const { return at_; }

  private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

class Writer {
  public:
    void u1(std::size_t value) { bytes.push_back(static_cast<std::uint8_t>(value)); }
    void u2(std::size_t value) {
        u1(value >> 8U);
        u1(value);
    }
    void u4(std::size_t value) {
        u2(value >> 16U);
        u2(value);
    }
    void put(std::span<const std::uint8_t> part) {
        bytes.insert(bytes.end(), part.begin(), part.end());
    }
    void text(std::string_view value) {
        u1(tag_utf8);
        u2(value.size());
        bytes.insert(bytes.end(), value.begin(), value.end());
    }

    Bytes bytes;
};

}  // namespace steelyard
