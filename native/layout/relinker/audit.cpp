#include "audit.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "code_bytes.hpp"

namespace steelyard::layout {

namespace {

std::string json_text(const std::string& text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        const bool plain = code >= 0x20 && code < 0x7f && letter != '"' && letter != '\\';
        if (plain)
            quoted += letter;
        else
            quoted += {'\\', 'u', '0', '0', digits[code >> 4U], digits[code & 0xfU]};
    }
    return quoted + '"';
}

/// Whether the program defines malloc itself, so that its heap stays as it is.
bool has_own_malloc(const ElfImage& image) {
    return std::ranges::any_of(image.symbols(), [&](const Symbol& symbol) {
        const Section* section = image.section_of(symbol.address);
        return symbol.name == "malloc" && section != nullptr && section->is_code() &&
               section->name != runtime_section;
    });
}

bool calls_without_pad(const Function& function) {
    return function.moves() && function.pads.empty() &&
           std::ranges::find(function.fields, Field::call, &FieldUse::kind) !=
               function.fields.end();
}

}  // namespace

std::string audit(const ElfImage& image, const Functions& functions, const Wishes& wishes) {
    const CodeBytes bytes(image, functions);
    std::ostringstream text;
    text << "{\"parts\": " << wishes.parts << ", \"interval_ns\": " << wishes.interval_ns
         << ", \"functions\": [";
    std::string_view separator = "\n";
    std::size_t padded = 0;
    for (std::size_t index = 0; index < functions.all().size(); ++index) {
        const auto& function = functions.all()[index];
        text << separator << '[' << json_text(function.name) << ", " << function.start << ", "
             << bytes.of(index) << ", "
             << (function.moves() ? "null" : json_text(function.exempted)) << ", "
             << (calls_without_pad(function) ? "true" : "false") << ", " << function.blocks.size()
             << ", " << (function.uncut.empty() ? "null" : json_text(function.uncut)) << ", "
             << (function.unpadded.empty() ? "null" : json_text(function.unpadded)) << ']';
        separator = ",\n";
        padded += function.moves() && !function.pads.empty() ? 1U : 0U;
    }
    text << "\n], \"unnamed\": [";
    separator = "";
    for (const auto& [section, count] : bytes.unnamed()) {
        text << separator << '[' << json_text(section) << ", " << count << ']';
        separator = ", ";
    }
    text << "], \"runtime\": [";
    separator = "";
    for (const auto& [start, end] : bytes.runtime()) {
        text << separator << '[' << start << ", " << end << ']';
        separator = ", ";
    }
    text << "], \"own_malloc\": " << (has_own_malloc(image) ? "true" : "false")
         << ", \"padded\": " << padded << "}\n";
    return text.str();
}

}  // namespace steelyard::layout
