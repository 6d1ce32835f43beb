#include "patching.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace steelyard {

namespace {

constexpr std::uint64_t room_bytes = 96, page = 4096, far_bytes = 1U << 20U;
// push rax; mov eax, NUMBER; call [ADDRESS relative to rip]; pop rax
constexpr std::array<std::uint8_t, 13> head{0x50, 0xb8, 0, 0, 0, 0, 0xff, 0x15, 0, 0, 0, 0, 0x58};
constexpr std::size_t number_at = 2, pointer_at = 8, pointer_end = 12;
constexpr std::uint8_t jump_near = 0xe9;

void put_distance(std::uint8_t* field, std::uint64_t target, std::uint64_t end) {
    const auto distance = static_cast<std::int32_t>(target - end);
    std::memcpy(field, &distance, sizeof distance);
}

std::uint64_t address_of(const std::uint8_t* place) {
    return reinterpret_cast<std::uint64_t>(place);
}

/// Memory that jumps of four bytes reach from the whole program, and it them.
std::uint8_t* memory_near(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
    constexpr std::uint64_t reach = 1800ULL << 20U, step = 16ULL << 20U;
    const auto at = [bytes](std::uint64_t address) -> std::uint8_t* {
        void* const memory = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (memory == MAP_FAILED)
            return nullptr;
        if (memory != reinterpret_cast<void*>(address)) {
            munmap(memory, bytes);
            return nullptr;
        }
        return static_cast<std::uint8_t*>(memory);
    };
    for (std::uint64_t back = step; back < reach && back + bytes + far_bytes < begin;
         back += step) {
        if (auto* const found = at((begin - back - bytes) / page * page))
            return found;
    }
    // Below a program at a fixed low address is no room; what it asks of brk(2) grows above.
    for (std::uint64_t on = reach - bytes; on > step; on -= step) {
        if (end + on + bytes - begin > reach)
            continue;
        if (auto* const found = at((end + on) / page * page))
            return found;
    }
    return nullptr;
}

void write_room(std::uint8_t* room, const PlannedFunction& function, std::uint32_t number,
                std::uint64_t bias, std::uint64_t pointer) {
    std::memcpy(room, head.data(), head.size());
    std::memcpy(room + number_at, &number, sizeof number);
    put_distance(room + pointer_at, pointer, address_of(room) + pointer_end);
    std::uint8_t* const moved = room + head.size();
    std::memcpy(moved, function.moved.data(), function.moved_bytes);
    for (std::uint32_t index = 0; index < function.fixup_count; ++index) {
        const Fixup& fixup = function.fixups[index];
        const std::uint64_t target = fixup.target + bias;
        if (fixup.kind == Fixup::Kind::distance) {
            put_distance(moved + fixup.field, target, address_of(moved) + fixup.end);
            continue;
        }
        const auto half = static_cast<std::uint32_t>(
            fixup.kind == Fixup::Kind::low_half ? target : target >> 32U);
        std::memcpy(moved + fixup.field, &half, sizeof half);
    }
    std::uint8_t* const back = moved + function.moved_bytes;
    *back = jump_near;
    put_distance(back + 1, function.place + function.replaced_bytes + bias,
                 address_of(back) + jump_bytes);
}

/// Changes what may be done to the pages that hold functions; what lies between, as data before
/// clones does, stays as it is.
bool protect(std::span<const PlannedFunction> functions, std::uint64_t bias, int rights) {
    std::uint64_t begin = 0, end = 0;
    const auto change = [&] {
        // NOLINTNEXTLINE(clang-analyzer-security.MmapWriteExec)
        return begin == end || mprotect(reinterpret_cast<void*>(begin), end - begin, rights) == 0;
    };
    for (const PlannedFunction& function : functions) {
        const std::uint64_t first = (function.start + bias) / page * page;
        if (first > end) {
            if (!change())
                return false;
            begin = first;
        }
        end = (function.end + jump_bytes + bias + page - 1) / page * page;
    }
    return change();
}

}  // namespace

bool patch_entries(std::span<const PlannedFunction> functions, std::uint64_t image_end,
                   std::uint64_t bias, void (*entered)()) {
    const std::uint64_t begin = (functions.front().start + bias) / page * page;
    const std::uint64_t bytes =
        (sizeof entered + functions.size() * room_bytes + page) / page * page;
    std::uint8_t* const memory = memory_near(begin, image_end + bias, bytes);
    if (memory == nullptr)
        return false;
    // Threads of other libraries may run this code already, so that it stays executable.
    constexpr int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    if (!protect(functions, bias, all))
        return false;
    const auto called = reinterpret_cast<std::uint64_t>(entered);
    std::memcpy(memory, &called, sizeof called);
    std::uint8_t* room = memory + sizeof entered;
    for (std::uint32_t number = 0; number < functions.size(); ++number) {
        const PlannedFunction& function = functions[number];
        if (function.unwatched != Unwatched::none)
            continue;
        write_room(room, function, number, bias, address_of(memory));
        auto* const place = reinterpret_cast<std::uint8_t*>(function.place + bias);
        *place = jump_near;
        put_distance(place + 1, address_of(room), function.place + bias + jump_bytes);
        room += room_bytes;
    }
    return mprotect(memory, bytes, PROT_READ | PROT_EXEC) == 0 &&
           protect(functions, bias, PROT_READ | PROT_EXEC);
}

}  // namespace steelyard
