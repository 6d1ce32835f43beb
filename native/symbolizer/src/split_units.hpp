// Units whose debugging information is in files of their own (`.dwo`), or in a package of these
// (`.dwp`): DWARF 5, section 7.3, and GNU's extension of DWARF 4 that came before.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug_file.hpp"

namespace steelyard {

/// What a program's own file says of a unit that is elsewhere.
struct Skeleton {
    const Unit* unit = nullptr;
    std::uint64_t id = 0;
    std::uint64_t ranges_base = 0;
    std::string file;
    std::string folder;  ///< that the unit was compiled in
};

/// Nothing for a unit that is whole.
std::optional<Skeleton> skeleton_of(const Unit& unit);

class SplitUnits {
  public:
    void add_file(std::uint64_t id, Sections sections) { files_[id] = sections; }
    void set_package(Sections sections) { package_ = sections; }

    /// The unit that a skeleton stands for; null where its file is not there.
    const Unit* unit_of(const Skeleton& skeleton);

  private:
    std::optional<Sections> sections_of(std::uint64_t id) const;

    std::map<std::uint64_t, Sections> files_;
    std::optional<Sections> package_;
    std::vector<std::unique_ptr<DebugFile>> open_;
};

/// The sections of one unit in a package; nothing where it has none of that number.
std::optional<Sections> sections_in_package(const Sections& package, std::uint64_t id);

}  // namespace steelyard
