/// The unwinder asks for the frame description of an address; for one in a copy it gets that of the
/// original, with the start of the function moved to the copy. Landing pads are relative to that
/// start, so an exception goes on in the copy that its frame is in.
#include <dlfcn.h>

#include <cstdint>

#include "modules.hpp"

namespace steelyard::layout {

namespace {

struct Bases {  // libgcc's struct dwarf_eh_bases
    void* text;
    void* data;
    void* function;
};

using Find = const void* (*)(void*, Bases*);

Find next_find() {
    static Find found = nullptr;
    Find known = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (known != nullptr)
        return known;
    void* symbol = dlsym(RTLD_NEXT, "_Unwind_Find_FDE");
    if (symbol == nullptr) {  // loaded by libc for itself
        if (void* library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD))
            symbol = dlsym(library, "_Unwind_Find_FDE");
    }
    known = reinterpret_cast<Find>(symbol);
    __atomic_store_n(&found, known, __ATOMIC_RELEASE);
    return known;
}

}  // namespace

extern "C" __attribute__((visibility("default"), section("steelyard_text"))) const void*
_Unwind_Find_FDE(void* address, Bases* bases) {
    const Find find = next_find();
    if (find == nullptr)
        return nullptr;
    std::uint64_t original = 0;
    std::uint64_t distance = 0;
    const auto place = reinterpret_cast<std::uint64_t>(address);
    if (!modules().original(place, original, distance))
        return find(address, bases);
    const void* description = find(reinterpret_cast<void*>(original), bases);
    if (description != nullptr)
        bases->function = static_cast<std::uint8_t*>(bases->function) + distance;
    return description;
}

}  // namespace steelyard::layout
