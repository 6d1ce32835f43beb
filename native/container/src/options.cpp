#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "fatal.hpp"

namespace steelyard {

namespace {

struct Text {
    std::string_view name;
    std::string Options::* place;
};
struct Number {
    std::string_view name;
    std::int64_t Options::* place;
};
struct List {
    std::string_view name;
    std::vector<std::string> Options::* place;
};

constexpr Text texts[] = {
    {"image", &Options::image}, {"package", &Options::package}, {"layer", &Options::layer},
    {"save", &Options::save},   {"result", &Options::result},   {"report", &Options::report},
};
constexpr Number numbers[] = {
    {"processes", &Options::processes},       {"memory-bytes", &Options::memory_bytes},
    {"disk-bytes", &Options::disk_bytes},     {"inodes", &Options::inodes},
    {"output-bytes", &Options::output_bytes}, {"result-bytes", &Options::result_bytes},
    {"time-ms", &Options::time_ms},
};
constexpr List lists[] = {{"readable", &Options::readable}, {"writable", &Options::writable}};
constexpr std::string_view actions[] = {"hold", "build", "rehearse", "collect", "end"};

std::int64_t number(std::string_view name, std::string_view text) {
    std::int64_t value = -1;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || value < 0) {
        throw Fatal("--" + std::string(name) + " takes a number of at least 0, not '" +
                    std::string(text) + "'.");
    }
    return value;
}

template <typename Table>
auto* find(Table& table, std::string_view name) {
    auto* found = std::ranges::find_if(table, [&](const auto& one) { return one.name == name; });
    return found == std::end(table) ? nullptr : found;
}

void set(Options& options, std::string_view name, std::string_view value) {
    if (const Text* text = find(texts, name)) {
        options.*text->place = value;
    } else if (const Number* limit = find(numbers, name)) {
        options.*limit->place = number(name, value);
    } else if (const List* list = find(lists, name)) {
        (options.*list->place).emplace_back(value);
    } else if (name == "kind" && (value == "contained" || value == "trusted")) {
        options.kind = value == "trusted" ? Kind::trusted : Kind::contained;
    } else if (name == "network") {
        options.network = true;
    } else {
        throw Fatal("steelyard-container does not know --" + std::string(name) + "=" +
                    std::string(value) + "; it is started by steelyard, not by hand.");
    }
}

}  // namespace

Options options_from(int count, const char* const* words) {
    Options options;
    if (count < 3 || std::ranges::find(actions, words[1]) == std::end(actions))
        throw Fatal("steelyard-container is started by steelyard, not by hand.");
    options.action = words[1];
    options.state = words[2];
    int at = 3;
    for (; at < count && std::string_view(words[at]) != "--"; ++at) {
        std::string_view word = words[at];
        if (!word.starts_with("--"))
            throw Fatal("steelyard-container does not know '" + std::string(word) + "'.");
        word.remove_prefix(2);
        const std::size_t equals = std::min(word.find('='), word.size());
        set(options, word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
    }
    for (++at; at < count; ++at)
        options.command.emplace_back(words[at]);
    return options;
}

}  // namespace steelyard
