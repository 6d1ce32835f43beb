#include "functions.hpp"

#include <algorithm>
#include <utility>

#include "byte_reader.hpp"

namespace steelyard {

namespace {

/// The ranges of `.eh_frame` (Linux Standard Base, Core, section 10.6.1). Which encoding addresses
/// have is said in an augmentation; compilers write four bytes relative to themselves.
void add_unwound(const ProgramFile& file, std::vector<Function>& found) {
    const Section* const table = file.section(".eh_frame");
    if (table == nullptr)
        return;
    constexpr std::uint8_t relative_four_bytes = 0x1b;
    ByteReader reader(table->bytes, table->address);
    try {
        while (!reader.at_end()) {
            const auto length = reader.take<std::uint32_t>();
            if (length == 0 || length == 0xffffffffU)
                return;
            const std::uint64_t here = reader.address();
            ByteReader entry(reader.take_bytes(length), here);
            if (entry.take<std::uint32_t>() == 0)
                continue;  // A common part of entries.
            const std::uint64_t begin = entry.take_pointer(relative_four_bytes);
            const auto size = entry.take<std::uint32_t>();
            const Section* const code = file.section_at(begin);
            if (size > 0 && code != nullptr && code->is_code() && !code->name.starts_with(".plt"))
                found.push_back({{}, begin, size});
        }
    } catch (const Malformed&) {
        return;
    }
}

/// Whether `one` is the better of two symbols for one address.
bool is_better(const Symbol& one, const Symbol& other) {
    if ((one.size > 0) != (other.size > 0))
        return one.size > 0;
    if (one.is_local != other.is_local)
        return !one.is_local;
    return one.name < other.name;
}

std::vector<Symbol> code_symbols(const ProgramFile& file) {
    std::vector<Symbol> named;
    for (const Symbol& symbol : file.symbols()) {
        const Section* const code = symbol.is_function ? file.section_at(symbol.address) : nullptr;
        if (code != nullptr && code->is_code())
            named.push_back(symbol);
    }
    std::ranges::sort(named, [](const Symbol& one, const Symbol& other) {
        return one.address != other.address ? one.address < other.address : is_better(one, other);
    });
    return named;
}

/// Order of addresses; of two at one, what has a name first, then the longer.
bool comes_first(const Function& one, const Function& other) {
    if (one.address != other.address)
        return one.address < other.address;
    if (one.name.empty() != other.name.empty())
        return other.name.empty();
    return one.size > other.size;
}

}  // namespace

std::vector<Function> find_functions(const ProgramFile& file) {
    std::vector<Function> found;
    const std::vector<Symbol> named = code_symbols(file);
    for (const Symbol& symbol : named) {
        if (found.empty() || found.back().address != symbol.address)
            found.push_back({symbol.name, symbol.address, symbol.size});
    }
    add_unwound(file, found);
    std::ranges::sort(found, comes_first);
    std::uint64_t previous = ~std::uint64_t{0};
    std::erase_if(found, [&previous](const Function& one) {
        return std::exchange(previous, one.address) == one.address;
    });
    for (std::size_t place = 0; place < found.size(); ++place) {
        Function& one = found[place];
        const Section* const code = file.section_at(one.address);
        const std::uint64_t end = code->address + code->size;
        const bool has_next = place + 1 < found.size() && found[place + 1].address < end;
        const std::uint64_t limit = has_next ? found[place + 1].address : end;
        // Hand-written assembler often gives no size: it goes to the next function then.
        if (one.size == 0 || one.size > limit - one.address)
            one.size = limit - one.address;
    }
    return found;
}

std::int64_t function_at(const std::vector<Function>& functions, std::uint64_t address) {
    const auto after = std::ranges::upper_bound(functions, address, {}, &Function::address);
    if (after == functions.begin() || !std::prev(after)->holds(address))
        return -1;
    return std::distance(functions.begin(), std::prev(after));
}

}  // namespace steelyard
