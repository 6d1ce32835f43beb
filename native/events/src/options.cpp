#include "options.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

#include "fatal.hpp"

namespace steelyard {

namespace {

template <typename Number>
Number number_from(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw Fatal("The recorder takes a number, not '" + std::string(text) + "'.");
    return value;
}

/// NUMBER or NUMBER:FILTER.
Wanted wanted_from(std::string_view text) {
    const auto colon = text.find(':');
    const bool has_filter = colon != std::string_view::npos;
    return {number_from<std::uint64_t>(text.substr(0, colon)),
            has_filter ? std::string(text.substr(colon + 1)) : std::string(), false};
}

}  // namespace

Options options_from(int count, char** words) {
    Options options;
    for (int at = 1; at < count; at += 2) {
        const std::string_view name = words[at];
        if (at + 1 >= count)
            throw Fatal("The recorder does not understand '" + std::string(name) + "'.");
        const std::string_view value = words[at + 1];
        if (name == "--process")
            options.process = number_from<pid_t>(value);
        else if (name == "--output")
            options.output = value;
        else if (name == "--notes")
            options.notes = value;
        else if (name == "--event")
            options.wanted.push_back(wanted_from(value));
        else if (name == "--probe")
            options.wanted.push_back({number_from<std::uint64_t>(value), {}, true});
        else
            throw Fatal("The recorder does not understand '" + std::string(name) + "'.");
    }
    if (options.process <= 0 || options.wanted.empty())
        throw Fatal("The recorder needs --process and --event or --probe.");
    return options;
}

}  // namespace steelyard
