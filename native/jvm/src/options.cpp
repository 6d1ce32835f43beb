#include "options.hpp"

#include <algorithm>
#include <charconv>

#include "fatal.hpp"

namespace steelyard {

namespace {

std::string decoded(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned code = 0;
        const bool escaped = text[at] == '%' && at + 2 < text.size();
        if (escaped && std::from_chars(text.data() + at + 1, text.data() + at + 3, code, 16).ec ==
                           std::errc()) {
            plain += static_cast<char>(code);
            at += 2;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

template <typename Number>
Number number_from(std::string_view key, const std::string& text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end)
        throw Fatal(std::string(key) + " takes a number, not '" + text + "'.");
    return value;
}

/// Splits "package.Class.method" into the class as class files name it, and the method.
void set_delayed(AgentOptions& options, const std::string& name) {
    const auto dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == name.size())
        throw Fatal("delay takes package.Class.method, not '" + name + "'.");
    options.delayed_class = name.substr(0, dot);
    std::ranges::replace(options.delayed_class, '.', '/');
    options.delayed_method = name.substr(dot + 1);
}

void set(AgentOptions& options, std::string_view key, const std::string& value) {
    if (key == "map")
        options.map_path = value;
    else if (key == "times")
        options.times_path = value;
    else if (key == "safepoint")
        options.safepoint_path = value;
    else if (key == "period")
        options.period_ns = number_from<std::uint64_t>(key, value);
    else if (key == "delay")
        set_delayed(options, value);
    else if (key == "amount")
        options.amount = number_from<std::int32_t>(key, value);
    else
        throw Fatal("The agent does not understand '" + std::string(key) + "'.");
}

}  // namespace

AgentOptions agent_options_from(std::string_view text) {
    AgentOptions options;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        const auto equals = part.find('=');
        if (equals == std::string_view::npos)
            throw Fatal("The agent does not understand '" + std::string(part) + "'.");
        set(options, part.substr(0, equals), decoded(part.substr(equals + 1)));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
    }
    return options;
}

}  // namespace steelyard
