// What functions are called, as linkers know them, or else as programmers do.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "debug_file.hpp"
#include "scopes.hpp"
#include "source_files.hpp"

namespace steelyard {

/// A function's name. One for linkers is to be read by whoever knows its language. One that is put
/// together here may hold such names, each between `linkage_begin` and `linkage_end`.
struct FunctionName {
    bool is_linkage = false;
    std::string text;       ///< empty where the function has none
    std::string last_part;  ///< without scopes and parameters
    std::string source;     ///< where a function is defined that other sources do not see; or empty
};

class FunctionNames {
  public:
    static constexpr char linkage_begin = '\x01', linkage_end = '\x02';

    /// The name of a function's entry, or of what that refers to. `language` is that of units which
    /// say nothing of theirs.
    FunctionName of(const Place& place, std::uint64_t language);

  private:
    FunctionName name_at(Place place);
    std::string source_of(Place place);
    std::uint64_t language_of(const Unit& unit) const;
    bool is_brief(const Unit& unit);
    std::string plain(const Place& place, int depth);
    std::string scoped(const Place& place, int depth);
    std::string scope_part(const Place& place, int depth);
    std::string unnamed_type(const Place& place, int depth);
    std::optional<std::string> lambda_parameters(const Place& type, int depth);
    std::string generic_parameters(const Place& function, int depth);
    bool numbers_by_scope(const Unit& unit) const;
    std::string parameters(const Place& place, int depth);
    std::string type(const Unit& unit, const Die& die, int depth);
    std::string type_at(const Place& place, int depth);
    bool is_const_method(const Place& place);
    const Scopes& scopes(const Unit& unit);

    std::uint64_t language_ = 0;
    SourceFiles sources_;
    std::map<const Unit*, bool> brief_;
    std::map<const Unit*, std::unique_ptr<Scopes>> scopes_;
};

}  // namespace steelyard
