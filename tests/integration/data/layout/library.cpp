// A shared library with what moving could break: exceptions, threads' variables, constructors,
// a jump table, a callback into the program.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

thread_local int calls = 0;

struct Noisy {
    Noisy() { std::puts("library comes"); }
    ~Noisy() { std::puts("library goes"); }
} noisy;

}  // namespace

extern "C" {

__attribute__((noinline)) void* library_place() {
    return __builtin_return_address(0);
}

void* library_where() {
    void* found = library_place();
    __asm__ volatile("");
    return found;
}

int library_choose(int kind, int value) {
    switch (kind) {
        case 0:
            return value * 3;
        case 1:
            return value ^ 0x55;
        case 2:
            return value - 7;
        case 3:
            return value / 3;
        case 4:
            return value + calls;
        case 5:
            return value << 2;
        case 6:
            return -value;
        default:
            return value % 1000;
    }
}

int library_throw(int value) {
    ++calls;
    if (value % 3 == 0)
        throw std::runtime_error("library " + std::to_string(value));
    return value;
}

int library_call(int (*callback)(int), int value) {
    try {
        return callback(value) + 1;
    } catch (const std::logic_error& error) {
        return static_cast<int>(std::string(error.what()).size());
    }
}

int library_calls() {
    return calls;
}

int library_twice(int value) {
    return value * 2;
}

int (*library_pointer())(int) {
    return library_twice;
}
}
