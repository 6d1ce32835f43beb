// A program with a function of each kind that the C library calls first: how much of the stack
// those have below them is the library's, and the same in every program. The function of the
// thread is the only one whose address is in a variable.

#include <pthread.h>

namespace {

int calls = 0;

void* begin_thread(void* given) {
    ++calls;
    return given;
}

// NOLINTNEXTLINE
void* (*volatile thread_function)(void*) = begin_thread;

[[gnu::constructor]] void begin() {
    ++calls;
}

}  // namespace

int main() {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, thread_function, nullptr) != 0)
        return 1;
    void* given = nullptr;
    pthread_join(thread, &given);
    return calls == 2 ? 0 : 1;
}
