#include "options.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

#include "fatal.hpp"

namespace steelyard {

namespace {

template <typename Number>
Number number_from(const char* text) {
    Number value{};
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stop != end)
        throw Fatal("The delayer wants a number, not '" + std::string(text) + "'.");
    return value;
}

void take(Options& options, std::string_view name, const char* value) {
    if (name == "--object")
        options.object = value;
    else if (name == "--offset")
        options.offset = number_from<std::uint64_t>(value);
    else if (name == "--turns")
        options.turns = number_from<std::uint32_t>(value);
    else if (name == "--memory")
        options.memory_bytes = number_from<std::uint32_t>(value);
    else if (name == "--times")
        options.times = value;
    else if (name == "--copy")
        options.copy = value;
    else if (name == "--set")
        options.environment.emplace_back(value);
    else
        throw Fatal("The delayer has no option " + std::string(name) + ".");
}

}  // namespace

Options options_from(char** words) {
    Options options;
    while (*words != nullptr && std::strcmp(*words, "--") != 0) {
        const std::string_view name = *words++;
        if (*words == nullptr)
            throw Fatal("The delayer's option " + std::string(name) + " wants a value.");
        take(options, name, *words++);
    }
    if (*words != nullptr)
        options.command = words + 1;
    if (options.object.empty() || (options.copy.empty() && options.command == nullptr))
        throw Fatal(
            "Usage: steelyard-delayer --object FILE --offset N --turns N [--memory BYTES]\n"
            "           [--times FILE] [--set NAME=VALUE]... -- CMD...\n"
            "       steelyard-delayer --object FILE --offset N --turns N --copy FILE");
    return options;
}

}  // namespace steelyard
