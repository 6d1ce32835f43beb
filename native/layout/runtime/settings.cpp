#include "settings.hpp"

#include <sys/auxv.h>
#include <sys/syscall.h>

#include "raw.hpp"

// The dynamic linker's: where the kernel put argc, argv, and the environment behind them. libc's
// own `environ` is set too late for the first malloc.
extern "C" void* __libc_stack_end;

namespace steelyard::layout {

namespace {

constexpr std::uint64_t millisecond_ns = 1'000'000;

Settings current;
std::uint32_t is_read = 0;

bool same(const char* text, const char* word, std::size_t size) {
    for (std::size_t at = 0; at < size; ++at) {
        if (text[at] != word[at])
            return false;
    }
    return word[size] == '\0';
}

std::uint32_t part_named(const char* text, std::size_t size) {
    if (same(text, "code", size))
        return part_code;
    if (same(text, "stack", size))
        return part_stack;
    if (same(text, "heap", size))
        return part_heap;
    if (same(text, "blocks", size))
        return part_blocks | part_code;
    if (same(text, "none", size))
        return 0;
    fail("STEELYARD_LAYOUT must be some of code,stack,heap,blocks, or none; it is ", text);
}

std::uint32_t parts_of(const char* text) {
    std::uint32_t parts = 0;
    while (*text != '\0') {
        std::size_t size = 0;
        while (text[size] != '\0' && text[size] != ',')
            ++size;
        parts |= part_named(text, size);
        text += size + (text[size] == ',' ? 1 : 0);
    }
    return parts;
}

std::uint64_t interval_of(const char* text) {
    const char* const whole = text;
    if (same(text, "off", 3) && text[3] == '\0')
        return 0;
    const std::uint64_t value = decimal(text);
    if (text != whole && value != 0 && same(text, "ms", 2))
        return value * millisecond_ns;
    if (text != whole && value != 0 && same(text, "s", 1))
        return value * 1000 * millisecond_ns;
    fail("STEELYARD_LAYOUT_INTERVAL must be such as 500ms or 2s, or off; it is ", whole);
}

std::uint64_t seed_of(const char* text) {
    const char* const whole = text;
    const std::uint64_t value = decimal(text);
    if (text == whole || *text != '\0')
        fail("STEELYARD_LAYOUT_SEED must be a whole number; it is ", whole);
    return value;
}

void read_environment() {
    // With more rights than who started it: its environment could let it load a library, or write.
    if (getauxval(AT_SECURE) != 0)
        return;
    if (const char* text = variable("STEELYARD_LAYOUT")) {
        current.parts = parts_of(text);
        current.parts_given = true;
    }
    if (const char* text = variable("STEELYARD_LAYOUT_INTERVAL")) {
        current.interval_ns = interval_of(text);
        current.interval_given = true;
    }
    if (const char* text = variable("STEELYARD_LAYOUT_SEED")) {
        current.seed = seed_of(text);
        current.seed_given = true;
    }
    current.base = variable("STEELYARD_LAYOUT_BASE");
    current.report = variable("STEELYARD_LAYOUT_REPORT");
}

}  // namespace

char** initial_environment() {
    auto* const words = static_cast<std::uint64_t*>(__libc_stack_end);
    return reinterpret_cast<char**>(words + 1 + words[0] + 1);
}

const char* variable(const char* name) {
    for (char** entry = initial_environment(); *entry != nullptr; ++entry) {
        const char* text = *entry;
        const char* wanted = name;
        while (*wanted != '\0' && *text == *wanted) {
            ++text;
            ++wanted;
        }
        if (*wanted == '\0' && *text == '=')
            return text + 1;
    }
    return nullptr;
}

const Settings& settings() {
    if (__atomic_load_n(&is_read, __ATOMIC_ACQUIRE) == 0) {
        read_environment();  // before there are threads: the dynamic linker calls malloc
        __atomic_store_n(&is_read, 1, __ATOMIC_RELEASE);
    }
    return current;
}

void default_settings(std::uint32_t parts, std::uint64_t interval_ns, std::uint64_t seed) {
    settings();
    if (!current.parts_given)
        current.parts = parts;
    if (!current.interval_given)
        current.interval_ns = interval_ns;
    if (!current.seed_given && seed != 0)
        current.seed = seed;
    else if (!current.seed_given)
        raw(SYS_getrandom, word(&current.seed), sizeof current.seed, 0);
}

void leave_heap_to_program() {
    current.own_malloc = true;
    current.parts &= ~std::uint32_t{part_heap};
}

void draw_only_once() {
    current.interval_ns = 0;
}

}  // namespace steelyard::layout
