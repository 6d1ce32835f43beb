// What code refers to: functions, functions of other files, texts, and objects of data.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "functions.hpp"
#include "program_file.hpp"

namespace steelyard {

enum class ReferenceKind : std::uint8_t { function, external, data, text, elsewhere };

/// What a kind counts as in a digest: without names a text and an object that holds one look the
/// same, and so do a function and a place in code that is in no function.
constexpr std::uint64_t kind_without_names(ReferenceKind kind) {
    if (kind == ReferenceKind::text)
        return static_cast<std::uint64_t>(ReferenceKind::data);
    if (kind == ReferenceKind::elsewhere)
        return static_cast<std::uint64_t>(ReferenceKind::function);
    return static_cast<std::uint64_t>(kind);
}

/// One reference; `place` is a number in the list of its kind.
struct Reference {
    ReferenceKind kind = ReferenceKind::elsewhere;
    std::uint32_t place = 0;
    std::uint64_t offset = 0;  ///< inside an object of data
};

/// An object of data that is referred to.
struct DataObject {
    std::string_view name;  ///< empty where no symbol names it
    std::uint64_t address = 0;
    std::uint64_t size = 0;  ///< 0 until all objects are known, where no symbol says
};

/// Numbers what is referred to, each thing once.
class References {
  public:
    References(const ProgramFile& file, const std::vector<Function>& functions);

    /// What an address is, as an operand of code refers to it.
    Reference resolve(std::uint64_t address);
    /// A function of another file.
    Reference external(std::string_view name);
    /// What a slot of the global offset table, or any relocated word, will hold.
    Reference resolve(const Relocation& relocation);
    /// Whether a symbol names the data at an address.
    bool is_named(std::uint64_t address) const { return object_at(address) != nullptr; }
    /// Whether an address begins a text that ends as names of source files do.
    bool is_source_name(std::uint64_t address) const;

    const std::vector<std::string_view>& externals() const { return externals_; }
    /// Something that is no object begins here: objects before it end.
    void add_border(std::uint64_t address) { borders_.push_back(address); }
    /// The places here of what others of the same program have numbered.
    struct Places {
        std::vector<std::uint32_t> externals;
        std::vector<std::uint32_t> objects;
    };
    /// Numbers what another one has found, in its order, behind what is known.
    Places take(const References& other);
    /// The objects with their sizes: up to the next one where no symbol says.
    std::vector<DataObject> objects() const;

  private:
    Reference code_reference(std::uint64_t address);
    const Symbol* object_at(std::uint64_t address) const;
    Reference data_reference(std::uint64_t address);
    std::uint32_t place_of(const DataObject& object);
    bool is_text(std::uint64_t address) const;
    bool is_source_location(std::uint64_t address) const;
    /// A table of distances to texts, as LLVM makes it of a `switch` over texts.
    bool is_text_table(std::uint64_t table) const;

    const ProgramFile& file_;
    const std::vector<Function>& functions_;
    std::vector<Symbol> named_objects_;
    std::vector<DataObject> objects_;
    std::vector<std::uint64_t> borders_;
    std::unordered_map<std::uint64_t, std::uint32_t> places_;
    std::vector<std::string_view> externals_;
    std::unordered_map<std::string_view, std::uint32_t> external_places_;
};

/// What the contents of an object come to, without the addresses in them.
std::uint64_t data_digest(const ProgramFile& file, const DataObject& object);

}  // namespace steelyard
