// The constants of a class file, with those that the delay takes.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "class_bytes.hpp"

namespace steelyard {

/// Constants of a class as far as they are needed, and where the ones of the delay will stand.
struct Constants {
    std::vector<std::string> texts;  ///< by index; empty where it is no text
    std::uint16_t count = 0;
    std::uint16_t turns_field = 0;
    std::uint16_t sink_field = 0;
    std::uint16_t frames_name = 0;

    const std::string& text(std::uint16_t index) const {
        if (index >= texts.size())
            throw Malformed{};
        return texts[index];
    }
};

/// Copies the constants and adds those of the delay.
Constants copy_constants(Reader& in, Writer& out);

}  // namespace steelyard
