#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>
#include <system_error>

#include "fatal.hpp"

namespace steelyard {

namespace {

template <typename Number>
Number number_from(std::string_view name, std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw Fatal(std::string(name) + " takes a number, not '" + std::string(text) + "'.");
    return value;
}

Clock clock_from(std::string_view name) {
    if (name == "cpu-clock")
        return Clock::software;
    if (name == "cycles")
        return Clock::cycles;
    throw Fatal("The sampler knows no event '" + std::string(name) +
                "': it is cpu-clock or cycles.");
}

/// TYPE:CONFIG, or with a place in a program TYPE:CONFIG:OFFSET:PATH.
CountedEvent event_from(std::string_view text) {
    CountedEvent event;
    const auto next = [&text] {
        const auto word = text.substr(0, text.find(':'));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        return word;
    };
    event.type = number_from<std::uint32_t>("--count", next());
    event.config = number_from<std::uint64_t>("--count", next());
    if (!text.empty()) {
        event.offset = number_from<std::uint64_t>("--count", next());
        event.path = text;
    }
    return event;
}

/// Of hexadecimal numbers; what is none ends them.
std::string bytes_from(std::string_view text) {
    constexpr std::size_t digits = 2;
    constexpr int hexadecimal = 16;
    std::string found;
    for (std::size_t at = 0; at + digits <= text.size(); at += digits) {
        unsigned char byte = 0;
        const char* const end = text.data() + at + digits;
        if (std::from_chars(text.data() + at, end, byte, hexadecimal).ptr != end)
            break;
        found.push_back(static_cast<char>(byte));
    }
    return found;
}

using Setter = std::function<void(Options&, std::string_view)>;

const std::map<std::string_view, Setter>& setters() {
    static const std::map<std::string_view, Setter> table{
        {"--output", [](Options& o, std::string_view v) { o.storage.path = v; }},
        {"--header", [](Options& o, std::string_view v) { o.storage.header_json = v; }},
        {"--rotate-bytes",
         [](Options& o, std::string_view v) {
             o.storage.limit_bytes = number_from<std::uint64_t>("--rotate-bytes", v);
         }},
        {"--keep-files",
         [](Options& o, std::string_view v) {
             o.storage.kept_files = number_from<unsigned>("--keep-files", v);
         }},
        {"--stack-notes", [](Options& o, std::string_view v) { o.storage.stack_notes = v; }},
        {"--marks", [](Options& o, std::string_view v) { o.sampling.marks = v; }},
        {"--program", [](Options& o, std::string_view v) { o.storage.program = v; }},
        {"--spare-name", [](Options& o, std::string_view v) { o.storage.spared_name = v; }},
        {"--spare-build",
         [](Options& o, std::string_view v) { o.storage.spared_build = bytes_from(v); }},
        {"--walk-keys", [](Options& o, std::string_view v) { o.storage.ambiguous_keys = v; }},
        {"--event", [](Options& o, std::string_view v) { o.sampling.clock = clock_from(v); }},
        {"--count",
         [](Options& o, std::string_view v) { o.events.wanted.push_back(event_from(v)); }},
        {"--every",
         [](Options& o, std::string_view v) {
             o.events.every = number_from<std::uint64_t>("--every", v);
         }},
        {"--period",
         [](Options& o, std::string_view v) {
             o.sampling.period_ns = number_from<double>("--period", v);
         }},
        {"--ratio",
         [](Options& o, std::string_view v) {
             o.sampling.ratio = number_from<double>("--ratio", v);
         }},
        {"--spread", [](Options& o, std::string_view v) { o.sampling.spread = spread_from(v); }},
        {"--round-samples",
         [](Options& o, std::string_view v) {
             o.sampling.round_samples = number_from<std::size_t>("--round-samples", v);
         }},
        {"--seed",
         [](Options& o, std::string_view v) {
             o.sampling.seed = number_from<std::uint64_t>("--seed", v);
         }},
        {"--stacks",
         [](Options& o, std::string_view v) {
             o.sampling.depth.frame_pointers = v == "frame-pointers";
             o.sampling.depth.stack_copy = v == "dwarf";
         }},
        {"--word-below-frame",
         [](Options& o, std::string_view v) {
             o.sampling.depth.word_below_frame =
                 number_from<std::uint64_t>("--word-below-frame", v);
         }},
        {"--scope", [](Options& o, std::string_view v) { o.threads_only = v == "threads"; }},
        {"--urgency",
         [](Options& o, std::string_view v) { o.sampling.is_urgent = v != "ordinary"; }},
        {"--duration",
         [](Options& o, std::string_view v) {
             o.duration_s = number_from<double>("--duration", v);
         }},
        {"--report",
         [](Options& o, std::string_view v) { o.report = number_from<int>("--report", v); }},
        {"--pid",
         [](Options& o, std::string_view v) { o.process = number_from<pid_t>("--pid", v); }},
    };
    return table;
}

}  // namespace

void read_options(int count, char** words, Options& options) {
    int at = 1;
    for (; at < count && std::strcmp(words[at], "--") != 0; at += 2) {
        const auto setter = setters().find(words[at]);
        if (setter == setters().end() || at + 1 >= count)
            throw Fatal("The sampler does not understand '" + std::string(words[at]) + "'.");
        setter->second(options, words[at + 1]);
    }
    if (at < count)
        options.command.assign(words + at + 1, words + count);
    if (options.storage.path.empty())
        throw Fatal("The sampler needs --output.");
    if (options.command.empty() == (options.process == 0))
        throw Fatal("The sampler takes either --pid or a command after --.");
    options.events.depth = options.sampling.depth;
    if (!options.command.empty())
        options.command.push_back(nullptr);
}

}  // namespace steelyard
