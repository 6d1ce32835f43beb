#include "base.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include "chunks.hpp"
#include "large.hpp"
#include "random.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "size_classes.hpp"

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void __libc_free(void* object);

namespace steelyard::layout {

namespace {

constexpr std::uint64_t base_stream = 4;
constexpr std::uint64_t magic = 0x53544c5942415345;

/// Right before each object: whose it is, as its address alone does not say so.
struct Header {
    std::uint64_t mark;
    std::uint64_t index;
};

struct ThreadBase {
    Random random;
    void** shuffled[plain_classes];
    ThreadBase* next_unused;
};

void* (*base_malloc)(std::size_t) = nullptr;
void (*base_free)(void*) = nullptr;
Lock starting;
ThreadBase* unused = nullptr;
std::uint64_t started = 0;
pthread_key_t ending_key;
__thread ThreadBase* own_base = nullptr;

constexpr std::uint32_t objects_of(std::size_t index) {
    return static_cast<std::uint32_t>(window_objects(index));
}

/// A thread has ended: what it holds is for the next one.
void leave(void* left) {
    auto* base = static_cast<ThreadBase*>(left);
    own_base = nullptr;
    const Guard guard(starting);
    base->next_unused = unused;
    unused = base;
}

ThreadBase* enter() {
    ThreadBase* base = nullptr;
    {
        const Guard guard(starting);
        base = unused;
        if (base != nullptr) {
            unused = base->next_unused;
        } else {
            base = static_cast<ThreadBase*>(
                map_pages(nullptr, sizeof(ThreadBase), PROT_READ | PROT_WRITE));
            if (base == nullptr)
                return nullptr;
            base->random = Random(settings().seed ^ (base_stream << 56U) ^ (started++ << 32U));
        }
    }
    own_base = base;
    pthread_setspecific(ending_key, base);
    return base;
}

ThreadBase* thread_base() {
    return own_base != nullptr ? own_base : enter();
}

Header* header_of(const void* object) {
    return reinterpret_cast<Header*>(reinterpret_cast<std::uint64_t>(object) - sizeof(Header));
}

std::uint64_t mark_of(const void* object) {
    return magic ^ reinterpret_cast<std::uint64_t>(object);
}

bool is_marked(const void* object) {
    return header_of(object)->mark == mark_of(object);
}

void* fresh(std::size_t index) {
    auto* place = static_cast<Header*>(base_malloc(sizeof(Header) + class_bytes(index)));
    if (place == nullptr)
        return nullptr;
    *place = {mark_of(place + 1), index};
    return place + 1;
}

/// Fills the shuffled objects of a class: the inside-out Fisher-Yates shuffle (Durstenfeld, 1964).
bool prepare(ThreadBase& base, std::size_t index) {
    const std::uint32_t objects = objects_of(index);
    auto* places =
        static_cast<void**>(map_pages(nullptr, objects * sizeof(void*), PROT_READ | PROT_WRITE));
    if (places == nullptr)
        return false;
    for (std::uint32_t at = 0; at < objects; ++at) {
        void* found = fresh(index);
        if (found == nullptr)
            return false;
        const std::uint32_t other = base.random.below(at + 1);
        places[at] = places[other];
        places[other] = found;
    }
    base.shuffled[index] = places;
    return true;
}

/// A random place among the shuffled objects of a class; null where there is no memory.
void** random_place(std::size_t index) {
    ThreadBase* base = thread_base();
    if (base == nullptr || (base->shuffled[index] == nullptr && !prepare(*base, index)))
        return nullptr;
    return &base->shuffled[index][base->random.below(objects_of(index))];
}

void* small_allocate(std::size_t index) {
    void** place = random_place(index);
    void* found = place == nullptr ? nullptr : fresh(index);
    if (found == nullptr)
        return nullptr;
    void* given = *place;
    *place = found;
    return given;
}

template <typename Function>
void find(Function& function, void* library, const char* special, const char* usual) {
    void* found = dlsym(library, special);
    function = reinterpret_cast<Function>(found != nullptr ? found : dlsym(library, usual));
}

}  // namespace

constinit std::uint32_t base_state = static_cast<std::uint32_t>(Base::unknown);

bool base_keeps_runs() {
    const char* name = settings().base;
    return name != nullptr && same_text(name, "pages");
}

Base decide_base() {
    load_defaults();
    const char* name = settings().base;
    Base decided = Base::own;
    const bool is_other = name != nullptr && !same_text(name, "own") && !base_keeps_runs();
    if (settings().has(part_heap) && is_other)
        decided = Base::pending;
    __atomic_store_n(&base_state, static_cast<std::uint32_t>(decided), __ATOMIC_RELEASE);
    return decided;
}

void load_base() {
    if (heap_base() != Base::pending)
        return;
    const char* name = settings().base;
    if (same_text(name, "libc")) {
        base_malloc = __libc_malloc;
        base_free = __libc_free;
    } else {
        void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr)
            fail("STEELYARD_LAYOUT_BASE must be own, pages, libc, or a library with an allocator: ",
                 dlerror());
        find(base_malloc, library, "mi_malloc", "malloc");
        find(base_free, library, "mi_free", "free");
    }
    if (base_malloc == nullptr || base_free == nullptr)
        fail("STEELYARD_LAYOUT_BASE names a library without malloc and free: ", name);
    pthread_key_create(&ending_key, leave);
    __atomic_store_n(&base_state, static_cast<std::uint32_t>(Base::other), __ATOMIC_RELEASE);
}

void* based_allocate(std::size_t size) {
    bool is_zero = false;
    return based_allocate_zeroed(size, is_zero);
}

void* based_allocate_zeroed(std::size_t size, bool& is_zero) {
    is_zero = false;
    if (size <= largest_small_bytes)
        return small_allocate(class_for(size));
    ThreadBase* base = thread_base();
    return base == nullptr ? nullptr : large_allocate(base->random, granule_bytes, size, is_zero);
}

void* based_allocate_aligned(std::size_t alignment, std::size_t size) {
    if (alignment <= granule_bytes)
        return based_allocate(size);
    ThreadBase* base = thread_base();
    bool is_zero = false;
    return base == nullptr ? nullptr : large_allocate(base->random, alignment, size, is_zero);
}

bool based_free(void* object) {
    if (!is_marked(object)) {
        const bool is_large = large_size(object) != 0;
        if (is_large)
            large_free(object);
        return is_large;
    }
    void** place = random_place(header_of(object)->index);
    if (place == nullptr)
        return true;  // lost to the program, as there is no memory to remember it by
    Header* freed = header_of(*place);
    *place = object;
    freed->mark = 0;
    base_free(freed);
    return true;
}

std::size_t based_size(const void* object) {
    return is_marked(object) ? class_bytes(header_of(object)->index) : large_size(object);
}

void hold_base() {
    starting.take();
}

void resume_base() {
    starting.give();
}

void reset_base_in_child() {
    starting.reset();
}

}  // namespace steelyard::layout
