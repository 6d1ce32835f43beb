#include "code_bytes.hpp"

#include <algorithm>
#include <span>

#include "decode.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint8_t trap = 0xcc, no_operation = 0x90, operand_size = 0x66, segment = 0x2e;

struct Extent {
    std::uint64_t start, end;
};

/// `int3`, `nop`, `xchg %ax, %ax` and `nopw ...` (Intel SDM volume 2, NOP).
bool is_filling(std::span<const std::uint8_t> instruction) {
    std::size_t at = 0;
    while (at < instruction.size() &&
           (instruction[at] == operand_size || instruction[at] == segment))
        ++at;
    const auto rest = instruction.subspan(at);
    const bool is_short =
        rest.size() == 1 && (rest.front() == trap || rest.front() == no_operation);
    return is_short || (rest.size() > 2 && rest[0] == 0x0f && rest[1] == 0x1f);
}

/// Of the runtime, in the order of their addresses.
std::vector<Extent> runtime_extents(const ElfImage& image) {
    std::vector<Extent> found;
    for (const auto& symbol : image.symbols()) {
        if (symbol.type == STT_FUNC && is_of_runtime(symbol))
            found.push_back({symbol.address, symbol.address + symbol.size});
    }
    std::ranges::sort(found, {}, &Extent::start);
    return found;
}

}  // namespace

std::size_t without_filling(std::span<const std::uint8_t> code) {
    std::size_t used = 0;
    for (std::size_t at = 0; at < code.size();) {
        const auto decoded = decode(code.subspan(at));
        if (!decoded)
            return code.size();
        if (!is_filling(code.subspan(at, decoded->length)))
            used = at + decoded->length;
        at += decoded->length;
    }
    return used;
}

CodeBytes::CodeBytes(const ElfImage& image, const Functions& functions) {
    const std::vector<Extent> runtime = runtime_extents(image);
    std::vector<Extent> known = runtime;
    for (const auto& extent : runtime)
        runtime_.emplace_back(extent.start, extent.end);
    const auto room_of = [&](const Function& function) {
        const auto next = std::ranges::upper_bound(runtime, function.start, {}, &Extent::start);
        const std::uint64_t end = next == runtime.end() ? function.room_end : next->start;
        const auto room = image.at(function.start);
        return room.first(std::min<std::uint64_t>(
            room.size(), std::min(end, function.room_end) - function.start));
    };
    for (const auto& function : functions.all()) {
        std::uint64_t size = function.end - function.start;
        if (size == 0 && function.room_end > function.start)
            size = without_filling(room_of(function));
        of_functions_.push_back(size);
        known.push_back({function.start, function.start + size});
    }
    std::ranges::sort(known, {}, &Extent::start);
    for (const auto& section : image.sections()) {
        if (!section.is_loaded() || !section.is_code())
            continue;
        if (section.name == runtime_section) {
            runtime_.emplace_back(section.header.sh_addr,
                                  section.header.sh_addr + section.header.sh_size);
            continue;
        }
        const std::uint64_t end = section.header.sh_addr + section.header.sh_size;
        std::uint64_t at = section.header.sh_addr;
        const auto count_up_to = [&](std::uint64_t next) {
            if (next > at) {
                const std::size_t used = without_filling(image.at(at).first(next - at));
                if (used != 0)
                    unnamed_[section.name] += used;
            }
        };
        for (auto extent = std::ranges::lower_bound(known, at, {}, &Extent::start);
             extent != known.end() && extent->start < end; ++extent) {
            count_up_to(extent->start);
            at = std::max(at, std::min(extent->end, end));
        }
        count_up_to(end);
    }
}

}  // namespace steelyard::layout
