// The keys of a map that mean several call paths, and which callers tell those apart.

#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steelyard {

/// The callers of a function, the innermost first.
using Callers = std::vector<std::uint64_t>;

/// Addresses of functions are those that the linker gave them.
class AmbiguousKeys {
  public:
    /// Lines of numbers: `part START FUNCTION`, of each part of each function that a path has;
    /// `key FUNCTION HEIGHT`; and after a key `path CALLER...` for each of its paths.
    /// Throws Fatal where one is none of these.
    static AmbiguousKeys read(std::istream& lines);
    static AmbiguousKeys read_file(const std::string& path);

    /// The paths of a key with several; null: it has fewer.
    const std::vector<Callers>* paths_of(std::uint64_t part, std::uint64_t height) const;
    /// The function that one is a part of; 0: none.
    std::uint64_t whole(std::uint64_t part) const;

  private:
    std::unordered_map<std::uint64_t, std::uint64_t> whole_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Callers>> paths_;
};

/// Which paths of a key remain, as callers become known.
class RemainingPaths {
  public:
    explicit RemainingPaths(const std::vector<Callers>& paths);

    void take(std::uint64_t caller);
    /// Whether no further caller can tell more.
    bool is_told() const { return left_.size() <= 1; }

  private:
    std::vector<const Callers*> left_;
    std::size_t depth_ = 0;
};

}  // namespace steelyard
