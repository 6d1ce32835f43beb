#include "call_paths.hpp"

#include <array>
#include <cstdio>
#include <sstream>

namespace steelyard {

namespace {

// A program has some thousands; beyond that all of a kind that are new count as one without places,
// so that memory stays bounded.
constexpr std::size_t most_paths = 100'000;

void put_text(std::ostream& out, std::string_view text) {
    out << '"';
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') {
            out << '\\' << letter;
        } else if (static_cast<unsigned char>(letter) < ' ') {
            std::array<char, 8> escaped{};
            std::snprintf(escaped.data(), escaped.size(), "\\u%04x", letter);
            out << escaped.data();
        } else {
            out << letter;
        }
    }
    out << '"';
}

template <typename Items, typename Put>
void put_list(std::ostream& out, const Items& items, Put put) {
    out << '[';
    const char* between = "";
    for (const auto& item : items) {
        out << between;
        put(item);
        between = ",";
    }
    out << ']';
}

}  // namespace

std::uint32_t CallPaths::file_number(const std::string& path) {
    const auto [known, is_new] =
        numbers_.try_emplace(path, static_cast<std::uint32_t>(files_.size()));
    if (is_new)
        files_.push_back(path);
    return known->second;
}

void CallPaths::add(unsigned kind, const std::vector<CodePlace>& places, bool whole) {
    ++events_;
    if (!whole)
        ++cut_;
    Path path{kind, places};
    if (counts_.size() >= most_paths && !counts_.contains(path))
        path.places.clear();
    ++counts_[std::move(path)];
}

void CallPaths::add_key(unsigned kind, CodePlace place, Depths depths) {
    ++events_;
    Key key{kind, place, depths};
    if (keys_.size() >= most_paths && !keys_.contains(key))
        key.depths = {};
    ++keys_[key];
}

std::string CallPaths::json(std::uint64_t lost) const {
    std::ostringstream out;
    out << R"({"files":)";
    put_list(out, files_, [&](const std::string& path) { put_text(out, path); });
    out << R"(,"paths":)";
    put_list(out, counts_, [&](const auto& counted) {
        const auto& [path, count] = counted;
        out << '[' << path.kind << ',' << count << ',';
        put_list(out, path.places,
                 [&](const CodePlace& at) { out << at.file << ',' << at.offset; });
        out << ']';
    });
    if (!keys_.empty()) {
        out << R"(,"keys":)";
        put_list(out, keys_, [&](const auto& counted) {
            const auto& [key, count] = counted;
            out << '[' << key.kind << ',' << count << ',' << key.place.file << ','
                << key.place.offset << ',' << key.depths.stack_pointer << ','
                << key.depths.frame_pointer << ']';
        });
    }
    out << R"(,"events":)" << events_ << R"(,"cut":)" << cut_ << R"(,"lost":)" << lost << "}\n";
    return out.str();
}

}  // namespace steelyard
