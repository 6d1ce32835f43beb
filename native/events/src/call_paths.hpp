// The different call paths of events, each with how often it was met.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace steelyard {

/// A place in a file, by the number of the file; or an address of a process whose code is in none.
struct CodePlace {
    std::uint32_t file = 0;
    std::uint64_t offset = 0;

    auto operator<=>(const CodePlace&) const = default;
};

/// How far registers are from where the stack of their thread begins.
struct Depths {
    static constexpr std::int64_t unknown = -1;

    std::int64_t stack_pointer = unknown;
    std::int64_t frame_pointer = unknown;  ///< also where it points elsewhere

    auto operator<=>(const Depths&) const = default;
};

class CallPaths {
  public:
    /// The number of a file from now on.
    std::uint32_t file_number(const std::string& path);

    /// An event of `kind`, with the places that led to it, the innermost first. `whole`: the last
    /// of them is where its thread began.
    void add(unsigned kind, const std::vector<CodePlace>& places, bool whole);

    /// An event of `kind` of which the place and the depths alone are known.
    void add_key(unsigned kind, CodePlace place, Depths depths);

    /// One object: `files`, `paths` as [kind, count, [file, offset, file, offset ...]], how many
    /// `events` there were, of how many the path is `cut` short, and `lost`;
    /// with any, `keys` as [kind, count, file, offset, depth of the stack pointer, and of the frame
    /// pointer].
    std::string json(std::uint64_t lost) const;

  private:
    struct Path {
        unsigned kind;
        std::vector<CodePlace> places;

        auto operator<=>(const Path&) const = default;
    };

    std::vector<std::string> files_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
    struct Key {
        unsigned kind;
        CodePlace place;
        Depths depths;

        auto operator<=>(const Key&) const = default;
    };

    std::map<Path, std::uint64_t> counts_;
    std::map<Key, std::uint64_t> keys_;
    std::uint64_t events_ = 0;
    std::uint64_t cut_ = 0;
};

}  // namespace steelyard
