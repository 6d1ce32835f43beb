#include "movable_functions.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "basic_blocks.hpp"
#include "relocation_kinds.hpp"
#include "stack_switches.hpp"
#include "table.hpp"

namespace steelyard::layout {

namespace {

constexpr std::string_view type_mark = "__cfi_";
constexpr std::string_view pad_section = ".debug_steelyard_pads";
constexpr std::uint8_t padding_trap = 0xcc, padding_nop = 0x90;
constexpr std::int64_t tls_sequence_bytes = 16;  // the longest pair of the psABI, chapter 11

std::string hex(std::uint64_t value) {
    std::ostringstream text;
    text << std::hex << "0x" << value;
    return text.str();
}

bool is_text(const Section& section) {
    return section.is_code() && section.name.starts_with(".text");
}

std::int32_t word_at(std::span<const std::uint8_t> bytes) {
    std::int32_t word = 0;
    if (bytes.size() >= sizeof word)
        std::memcpy(&word, bytes.data(), sizeof word);
    return word;
}

}  // namespace

Functions::Functions(const ElfImage& image)
    : image_(image), relocations_(image.kept_relocations()) {
    collect();
    exempt_what_is_known_by_address();
    decode_all();
    check_against_relocations();
    find_jump_tables();
    place_labels();
    exempt_by_what_others_need();
    find_pads();
    choose_depth_checks();
    cut_into_blocks();
}

std::ptrdiff_t Functions::find(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(all_, address, {}, &Function::start);
    if (after == all_.begin())
        return -1;
    const auto found = after - 1;
    return address < found->end || address == found->start ? found - all_.begin() : -1;
}

bool Functions::is_entry(std::uint64_t address) const {
    const std::ptrdiff_t found = find(address);
    return found >= 0 && all_[static_cast<std::size_t>(found)].start == address;
}

void Functions::collect() {
    for (const auto& symbol : image_.symbols()) {
        const Section* section = image_.section_of(symbol.address);
        const bool is_function = symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC;
        if (!is_function || section == nullptr || !section->is_code() ||
            section->name == runtime_section)
            continue;
        if (is_of_runtime(symbol)) {
            of_runtime_.emplace_back(symbol.address, symbol.address + symbol.size);
            continue;
        }
        Function found;
        found.name = symbol.name;
        found.start = symbol.address;
        found.end = symbol.address + symbol.size;
        found.room_end = section->header.sh_addr + section->header.sh_size;
        if (!is_text(*section))
            found.exempt("it lies in " + section->name);
        else if (symbol.size == 0)
            found.exempt("its symbol has no size");
        else if (symbol.name.starts_with(type_mark))
            found.exempt("it is a mark that indirect calls look for (-fsanitize=kcfi)");
        all_.push_back(std::move(found));
    }
    std::ranges::stable_sort(all_, [](const Function& a, const Function& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    const auto repeated = std::ranges::unique(all_, {}, &Function::start);
    all_.erase(repeated.begin(), repeated.end());
    collect_unmarked();
    for (std::size_t index = 0; index + 1 < all_.size(); ++index) {
        Function& function = all_[index];
        Function& next = all_[index + 1];
        function.room_end = std::min(function.room_end, next.start);
        if (next.start < function.end) {
            function.exempt("it overlaps with " + next.name);
            next.exempt("it overlaps with " + function.name);
        }
    }
}

/// Assembly may leave out what says that a symbol is a function. Where it is none's label, it stays
/// and is named.
void Functions::collect_unmarked() {
    std::vector<Function> unmarked;
    for (const auto& symbol : image_.symbols()) {
        const Section* section = image_.section_of(symbol.address);
        if (symbol.type != STT_NOTYPE || symbol.name.empty() || section == nullptr ||
            !is_text(*section) || find(symbol.address) >= 0)
            continue;
        Function found;
        found.name = symbol.name;
        found.start = found.end = symbol.address;
        found.room_end = section->header.sh_addr + section->header.sh_size;
        found.exempt("its symbol is not marked as a function");
        unmarked.push_back(std::move(found));
    }
    std::ranges::move(unmarked, std::back_inserter(all_));
    std::ranges::stable_sort(all_, {}, &Function::start);
    const auto repeated = std::ranges::unique(all_, {}, &Function::start);
    all_.erase(repeated.begin(), repeated.end());
}

void Functions::decode_all() {
    for (auto& function : all_) {
        if (!function.moves())
            continue;
        const auto room = image_.at(function.start);
        const std::uint64_t size = function.end - function.start;
        if (room.size() < size) {
            function.exempt("it reaches out of its section");
            continue;
        }
        StackPointerUse use;
        for (std::uint64_t offset = 0; offset < size;) {
            const auto decoded = decode(room.subspan(offset, size - offset));
            if (!decoded) {
                function.exempt("it cannot be decoded at " + hex(offset));
                break;
            }
            if (decoded->field != Field::none) {
                const std::int64_t distance = field_distance(*decoded, room.subspan(offset));
                const std::uint64_t target = function.start + offset + decoded->length +
                                             static_cast<std::uint64_t>(distance);
                function.fields.push_back(
                    {static_cast<std::uint32_t>(offset + decoded->field_offset), decoded->field,
                     decoded->field_bytes, target, distance < 0});
                if (decoded->field_bytes == 1 &&
                    (target < function.start || target >= function.end))
                    function.exempt("a short jump leaves it at " + hex(offset));
            }
            use.add(room.subspan(offset, decoded->length));
            offset += decoded->length;
            function.is_decoded = offset == size;
        }
        function.switches_stacks = use.switches_stacks();
        for (std::uint64_t at = size; at < stub_bytes; ++at) {
            const bool is_room = function.start + at < function.room_end && at < room.size() &&
                                 (room[at] == padding_trap || room[at] == padding_nop);
            if (!is_room)
                function.exempt("it is smaller than the jump to its copy");
        }
    }
}

void Functions::check_against_relocations() {
    std::set<std::uint64_t> explained;
    for (std::size_t index = 0; index < relocations_.size(); ++index) {
        const auto& kept = relocations_[index];
        const std::ptrdiff_t found = find(kept.address);
        if (found < 0 || !image_.sections()[kept.section].is_code())
            continue;
        Function& function = all_[static_cast<std::size_t>(found)];
        explained.insert(kept.address);
        const bool relaxed = may_be_relaxed(kept.type);
        if (relaxed)
            explained.insert(kept.address - 1);  // `jmp *slot` has become `jmp` and a no-op
        if (is_tls_sequence(kept.type) || relaxed || !is_pc_relative(kept.type))
            continue;
        const bool ends_tls_sequence =
            index > 0 && is_tls_sequence(relocations_[index - 1].type) &&
            kept.address - relocations_[index - 1].address <= tls_sequence_bytes;
        const auto offset = static_cast<std::uint32_t>(kept.address - function.start);
        const bool is_field =
            std::ranges::binary_search(function.fields, offset, {}, &FieldUse::offset);
        if (!is_field && !ends_tls_sequence)
            function.exempt("the relocation at " + hex(offset) + " is of no known field");
    }
    for (auto& function : all_) {
        for (const auto& use : function.fields) {
            const bool inside = use.target >= function.start && use.target < function.end;
            if (!inside && !explained.contains(function.start + use.offset) &&
                !is_entry(use.target))
                function.exempt("the PC-relative field at " + hex(use.offset) +
                                " has no relocation");
        }
    }
}

void Functions::find_jump_tables() {
    std::map<std::uint64_t, std::uint64_t> entries;  // of possible tables: address to symbol
    for (const auto& kept : relocations_) {
        const auto& section = image_.sections()[kept.section];
        if (kept.type == R_X86_64_PC32 && !section.is_code() && !is_unwind_section(section.name))
            entries.emplace(kept.address, kept.symbol);
    }
    std::map<std::uint64_t, std::set<std::size_t>> users;
    for (std::size_t index = 0; index < all_.size(); ++index) {
        for (const auto& use : all_[index].fields) {
            if (use.kind == Field::address && entries.contains(use.target))
                users[use.target].insert(index);
        }
    }
    for (const auto& [start, functions] : users) {
        std::vector<std::uint64_t> targets;
        for (std::uint64_t at = start;; at += sizeof(std::int32_t)) {
            if (!entries.contains(at) || (at != start && users.contains(at)))
                break;
            targets.push_back(start + static_cast<std::uint64_t>(
                                          static_cast<std::int64_t>(word_at(image_.at(at)))));
        }
        for (std::size_t entry = 0; entry < targets.size(); ++entry)
            entries[start + entry * sizeof(std::int32_t)] = 0;
        Function& user = all_[*functions.begin()];
        const auto own = [&](std::uint64_t target) {
            return target >= user.start && target <= user.end;
        };
        const auto first_other = std::ranges::find_if_not(targets, own);
        const bool other_code = std::any_of(first_other, targets.end(), [&](std::uint64_t target) {
            return find(target) >= 0 && !is_entry(target);
        });
        const auto own_count = static_cast<std::uint32_t>(first_other - targets.begin());
        const bool leads_inside = std::any_of(
            targets.begin(), first_other, [&](auto target) { return user.holds_inside(target); });
        if (functions.size() == 1 && leads_inside && !other_code) {
            user.jump_tables[start] = own_count * sizeof(std::int32_t);
        } else {
            for (const std::uint64_t target : targets)
                need_label(target);
        }
    }
    for (const auto& [address, symbol] : entries) {
        const std::ptrdiff_t found = symbol == 0 ? -1 : find(symbol);
        if (found >= 0)
            all_[static_cast<std::size_t>(found)].exempt("the table at " + hex(address) +
                                                         " refers to it in an unknown way");
    }
}

bool Functions::need_label(std::uint64_t address) {
    const std::ptrdiff_t found = find(address);
    if (found < 0)
        return false;
    Function& function = all_[static_cast<std::size_t>(found)];
    if (!function.moves() || !function.holds_inside(address))
        return false;
    const auto place = std::ranges::lower_bound(function.labels, address);
    if (place != function.labels.end() && *place == address)
        return false;
    const std::uint64_t before = place == function.labels.begin() ? function.start : *(place - 1);
    const std::uint64_t after = place == function.labels.end() ? function.end : *place;
    if (address - before < stub_bytes || after - address < stub_bytes)
        function.exempt("addresses of places in it are kept in data, too close at " +
                        hex(address - function.start));
    function.labels.insert(place, address);
    return true;
}

void Functions::place_labels() {
    for (const auto& kept : relocations_) {
        const auto& section = image_.sections()[kept.section];
        if ((kept.type == R_X86_64_64 || kept.type == R_X86_64_32 || kept.type == R_X86_64_32S) &&
            !is_unwind_section(section.name))
            need_label(kept.value);
    }
    for (const auto& function : all_) {
        for (const auto& use : function.fields) {
            if (use.kind == Field::address)
                need_label(use.target);
        }
    }
}

void Functions::find_pads() {
    const auto bytes = image_.contents(pad_section);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size();
         at += sizeof(std::uint64_t)) {
        std::uint64_t address = 0;
        std::memcpy(&address, bytes.data() + at, sizeof address);
        const std::ptrdiff_t found = address == 0 ? -1 : find(address);
        if (found >= 0)
            all_[static_cast<std::size_t>(found)].pads.push_back(address);
    }
    for (auto& function : all_) {
        // A frame that is entered by the address of a label may be released by another copy than
        // made it, which has another pad.
        if (!function.labels.empty() && !function.pads.empty()) {
            function.unpadded = "it is entered through addresses of places in it";
            function.pads.clear();
        }
        std::ranges::sort(function.pads);
    }
}

void Functions::exempt_by_what_others_need() {
    for (const auto& kept : relocations_) {  // code that cannot be decoded, or has no symbol
        const std::ptrdiff_t from = find(kept.address);
        const bool unknown = from < 0 || all_[static_cast<std::size_t>(from)].fields.empty();
        if (unknown && image_.sections()[kept.section].is_code() && is_pc_relative(kept.type))
            need_label(kept.value + sizeof(std::int32_t));
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& function : all_) {
            for (const auto& use : function.fields) {
                const std::ptrdiff_t found = find(use.target);
                if (found < 0 || &all_[static_cast<std::size_t>(found)] == &function)
                    continue;
                Function& other = all_[static_cast<std::size_t>(found)];
                if (use.kind == Field::memory && other.moves()) {
                    other.exempt("its code is read as data by " + function.name);
                    changed = true;
                }
                const bool branches = use.kind == Field::call || use.kind == Field::jump;
                if (branches && !function.moves() && need_label(use.target))
                    changed = true;
            }
        }
    }
}

std::vector<std::uint64_t> Functions::table_targets(const Function& function) const {
    std::vector<std::uint64_t> found;
    for (const auto& [start, bytes] : function.jump_tables) {
        for (std::uint32_t at = 0; at < bytes; at += sizeof(std::int32_t))
            found.push_back(start + static_cast<std::uint64_t>(
                                        static_cast<std::int64_t>(word_at(image_.at(start + at)))));
    }
    return found;
}

void Functions::cut_into_blocks() {
    for (const auto& function : all_) {
        for (const auto& use : function.fields) {
            const bool branches = use.kind == Field::call || use.kind == Field::jump;
            const std::ptrdiff_t found = branches ? find(use.target) : -1;
            if (found < 0 || &all_[static_cast<std::size_t>(found)] == &function)
                continue;
            Function& other = all_[static_cast<std::size_t>(found)];
            if (other.holds_inside(use.target))
                other.uncut = function.name + " jumps into it";
        }
    }
    for (auto& function : all_) {
        if (!function.moves() || !function.uncut.empty())
            continue;
        const auto code = image_.at(function.start).first(function.end - function.start);
        auto blocks = basic_blocks(function, code, table_targets(function), function.uncut);
        if (blocks.size() > 1)
            function.blocks = std::move(blocks);
    }
}

}  // namespace steelyard::layout
