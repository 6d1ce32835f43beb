#include "references.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "decode.hpp"
#include "mixing.hpp"
#include "value_at.hpp"

namespace steelyard {

namespace {

// A run of letters this long is a text, also where nothing ends it, as in Rust.
constexpr std::size_t surely_text_bytes = 4;
constexpr std::uint64_t longest_text_bytes = 1U << 16U;

std::span<const std::uint8_t> octets(Bytes bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

/// The slot that a stub of `.plt` jumps through (`jmp *slot(%rip)`); 0 where it is none.
std::uint64_t slot_of_stub(const ProgramFile& file, std::uint64_t stub) {
    constexpr unsigned most_instructions = 3;
    std::uint64_t at = stub;
    for (unsigned count = 0; count < most_instructions; ++count) {
        const Bytes code = file.bytes_at(at);
        const auto found = decode(octets(code));
        if (!found)
            return 0;
        const std::uint64_t next = at + found->length;
        if (found->map == one_byte && found->opcode == 0xff && found->field == Field::memory)
            return next + static_cast<std::uint64_t>(
                              std::int64_t{value_at<std::int32_t>(code, found->field_offset)});
        at = next;
    }
    return 0;
}

/// The same of AArch64: `adrp x16, page; ldr x17, [x16, #offset]`.
std::uint64_t slot_of_aarch64_stub(const ProgramFile& file, std::uint64_t stub) {
    const Bytes code = file.bytes_at(stub);
    if (code.size() < 12)
        return 0;
    // A landing pad (`bti c`) may come first.
    const std::uint64_t skip = value_at<std::uint32_t>(code, 0) == 0xd503245fU ? 4 : 0;
    const auto page = value_at<std::uint32_t>(code, skip);
    const auto load = value_at<std::uint32_t>(code, skip + 4);
    if ((page & 0x9f000000U) != 0x90000000U || (load & 0xffc00000U) != 0xf9400000U)
        return 0;
    const std::uint32_t raw = ((page >> 5U) & 0x7ffffU) << 2U | ((page >> 29U) & 3U);
    const std::int64_t pages = static_cast<std::int32_t>(raw << 11U) >> 11;
    const std::uint64_t base = (stub + skip) & ~std::uint64_t{0xfff};
    return base + static_cast<std::uint64_t>(pages) * 4096 + ((load >> 10U) & 0xfffU) * 8;
}

/// Whether an object is the text of `__func__`, which a stripped program has without a name.
bool names_function(std::string_view name) {
    return name.starts_with("__func__") || name.starts_with("__FUNCTION__") ||
           name.starts_with("__PRETTY_FUNCTION__");
}

bool is_printable(std::byte one) {
    const auto value = std::to_integer<unsigned char>(one);
    return (value >= 0x20 && value < 0x7f) || (value >= 9 && value <= 13) || value == 0x1b;
}

}  // namespace

References::References(const ProgramFile& file, const std::vector<Function>& functions)
    : file_(file), functions_(functions) {
    for (const Symbol& symbol : file.symbols()) {
        if (!symbol.is_function && symbol.size > 0)
            named_objects_.push_back(symbol);
    }
    std::ranges::sort(named_objects_, [](const Symbol& one, const Symbol& other) {
        return one.address != other.address ? one.address < other.address : one.name < other.name;
    });
    std::uint64_t previous = ~std::uint64_t{0};
    std::erase_if(named_objects_, [&previous](const Symbol& one) {
        return std::exchange(previous, one.address) == one.address;
    });
}

Reference References::external(std::string_view name) {
    const auto [at, is_new] =
        external_places_.try_emplace(name, static_cast<std::uint32_t>(externals_.size()));
    if (is_new)
        externals_.push_back(name);
    return {ReferenceKind::external, at->second, 0};
}

Reference References::resolve(const Relocation& relocation) {
    return relocation.symbol.empty() ? resolve(relocation.address) : external(relocation.symbol);
}

Reference References::resolve(std::uint64_t address) {
    const Section* const section = file_.section_at(address);
    if (section == nullptr)
        return {};
    if (section->is_code())
        return code_reference(address);
    return data_reference(address);
}

Reference References::code_reference(std::uint64_t address) {
    const std::int64_t inside = function_at(functions_, address);
    if (inside >= 0)
        return {ReferenceKind::function, static_cast<std::uint32_t>(inside), 0};
    const std::uint64_t slot = file_.machine() == Machine::x86_64
                                   ? slot_of_stub(file_, address)
                                   : slot_of_aarch64_stub(file_, address);
    const Relocation* const relocation = slot == 0 ? nullptr : file_.relocation_at(slot);
    if (relocation == nullptr)
        return {};
    if (!relocation->symbol.empty())
        return external(relocation->symbol);
    const std::int64_t behind = function_at(functions_, relocation->address);
    if (behind < 0)
        return {};
    return {ReferenceKind::function, static_cast<std::uint32_t>(behind), 0};
}

const Symbol* References::object_at(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(named_objects_, address, {}, &Symbol::address);
    if (after == named_objects_.begin())
        return nullptr;
    const Symbol& found = *std::prev(after);
    return address - found.address < found.size ? &found : nullptr;
}

Reference References::data_reference(std::uint64_t address) {
    const Symbol* symbol = object_at(address);
    if (symbol != nullptr && names_function(symbol->name))
        symbol = nullptr;
    if (symbol == nullptr &&
        (is_text(address) || is_source_location(address) || is_text_table(address)))
        return {ReferenceKind::text, 0, 0};
    const DataObject object = symbol == nullptr
                                  ? DataObject{{}, address, 0}
                                  : DataObject{symbol->name, symbol->address, symbol->size};
    return {ReferenceKind::data, place_of(object), address - object.address};
}

std::uint32_t References::place_of(const DataObject& object) {
    const auto [at, is_new] =
        places_.try_emplace(object.address, static_cast<std::uint32_t>(objects_.size()));
    if (is_new)
        objects_.push_back(object);
    return at->second;
}

References::Places References::take(const References& other) {
    Places found;
    for (const std::string_view name : other.externals_)
        found.externals.push_back(external(name).place);
    for (const DataObject& object : other.objects_)
        found.objects.push_back(place_of(object));
    borders_.insert(borders_.end(), other.borders_.begin(), other.borders_.end());
    return found;
}

bool References::is_text(std::uint64_t address) const {
    const Section* const section = file_.section_at(address);
    if (section == nullptr || section->is_writable())
        return false;
    const Bytes bytes = file_.bytes_at(address);
    // The empty text is the end of another one: linkers merge texts by their ends.
    if (!bytes.empty() && bytes[0] == std::byte{0} && address > section->address)
        return is_printable(file_.bytes_at(address - 1)[0]);
    std::size_t length = 0;
    while (length < bytes.size() && length < longest_text_bytes && is_printable(bytes[length]))
        ++length;
    if (length >= surely_text_bytes)
        return true;
    if (length == 0 || length == bytes.size() || bytes[length] != std::byte{0})
        return false;
    // One letter before several zeros is a small number.
    return length > 1 || length + 1 == bytes.size() || bytes[length + 1] != std::byte{0};
}

bool References::is_source_name(std::uint64_t address) const {
    static constexpr std::array<std::string_view, 10> endings{".c",  ".cc",  ".cpp", ".cxx", ".h",
                                                              ".hh", ".hpp", ".rs",  ".inl", ".go"};
    if (!is_text(address))
        return false;
    const std::string_view text = text_at(file_.bytes_at(address), 0);
    return std::ranges::any_of(endings,
                               [text](std::string_view ending) { return text.ends_with(ending); });
}

/// The place in a source that Rust gives to what panics: a name, its length, line and column.
bool References::is_source_location(std::uint64_t address) const {
    const Relocation* const name = file_.relocation_at(address);
    const Bytes bytes = file_.bytes_at(address);
    if (name == nullptr || !name->symbol.empty() || bytes.size() < 24)
        return false;
    const Bytes text = file_.bytes_at(name->address);
    const auto length = value_at<std::uint64_t>(bytes, 8);
    if (length < 4 || length > text.size() || length > longest_text_bytes)
        return false;
    return std::string_view(reinterpret_cast<const char*>(text.data()), length).ends_with(".rs");
}

bool References::is_text_table(std::uint64_t table) const {
    const Section* const section = file_.section_at(table);
    if (section == nullptr || section->is_writable() || section->is_code() || table % 4 != 0)
        return false;
    const Bytes bytes = file_.bytes_at(table);
    for (std::uint64_t at = 0; at < 8; at += 4) {
        if (at + 4 > bytes.size())
            return false;
        const std::uint64_t target =
            table + static_cast<std::uint64_t>(std::int64_t{value_at<std::int32_t>(bytes, at)});
        const Section* const there = file_.section_at(target);
        if (there == nullptr || there->is_writable() || there->is_code() || !is_text(target))
            return false;
    }
    return true;
}

std::vector<DataObject> References::objects() const {
    std::vector<std::uint64_t> borders = borders_;
    borders.reserve(borders.size() + objects_.size() + named_objects_.size());
    for (const DataObject& one : objects_)
        borders.push_back(one.address);
    for (const Symbol& symbol : named_objects_)
        borders.push_back(symbol.address);
    std::ranges::sort(borders);
    std::vector<DataObject> found = objects_;
    for (DataObject& one : found) {
        const Section* const section = file_.section_at(one.address);
        if (one.size != 0 || section == nullptr)
            continue;
        const auto next = std::ranges::upper_bound(borders, one.address);
        const std::uint64_t end = section->address + section->size;
        one.size = (next == borders.end() ? end : std::min(*next, end)) - one.address;
    }
    return found;
}

std::uint64_t data_digest(const ProgramFile& file, const DataObject& object) {
    // Go: where code and data of the program lie.
    if (object.name == "runtime.firstmoduledata")
        return 0;
    const Section* const section = file.section_at(object.address);
    const Bytes all = file.bytes_at(object.address);
    const Bytes bytes =
        all.first(static_cast<std::size_t>(std::min<std::uint64_t>(object.size, all.size())));
    std::uint64_t digest = mixed(object.size);
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
        const bool is_address = file.relocation_at(object.address + at) != nullptr ||
                                (file.is_fixed() && word >= 4096 && file.section_at(word));
        // Zeros count by their place alone, so that data without contents in the file are equal.
        if (is_address)
            digest = mixed(mixed(digest, at), 1);
        else if (word != 0)
            digest = mixed(mixed(digest, at), word);
    }
    return mixed(digest, section != nullptr && section->is_writable() ? 1 : 0);
}

}  // namespace steelyard
