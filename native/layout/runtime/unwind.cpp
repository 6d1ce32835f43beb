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
using SetPlace = void (*)(void*, std::uint64_t);
using GetPlace = std::uint64_t (*)(void*, int*);

/// A function of libgcc's unwinder; `known` keeps it.
void* of_libgcc(const char* name, void*& known) {
    void* found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
    if (found != nullptr)
        return found;
    found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) {  // loaded by libc for itself
        if (void* library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD))
            found = dlsym(library, name);
    }
    __atomic_store_n(&known, found, __ATOMIC_RELEASE);
    return found;
}

}  // namespace

extern "C" __attribute__((visibility("default"), section("steelyard_text"))) const void*
_Unwind_Find_FDE(void* address, Bases* bases) {
    static void* known = nullptr;
    const auto find = reinterpret_cast<Find>(of_libgcc("_Unwind_Find_FDE", known));
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

/// Where a frame goes on is said by its language's personality, as a distance from the start of its
/// function. In a copy whose basic blocks lie apart that is the distance from where its block would
/// have the start.
extern "C" __attribute__((visibility("default"), section("steelyard_text"))) void _Unwind_SetIP(
    void* context, std::uint64_t wanted) {
    static void* known_set = nullptr;
    static void* known_get = nullptr;
    const auto set = reinterpret_cast<SetPlace>(of_libgcc("_Unwind_SetIP", known_set));
    const auto get = reinterpret_cast<GetPlace>(of_libgcc("_Unwind_GetIPInfo", known_get));
    int is_before = 0;
    const std::uint64_t place = get(context, &is_before);
    set(context, modules().landing(is_before != 0 ? place : place - 1, wanted));
}

}  // namespace steelyard::layout
