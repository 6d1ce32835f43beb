/// What happens before the program's first constructor.
#include <pthread.h>
#include <stdlib.h>

#include "code.hpp"
#include "heap.hpp"
#include "manager.hpp"
#include "program.hpp"
#include "random.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "stack.hpp"
#include "threads.hpp"

namespace steelyard::layout {

namespace {

// Streams of randomness that do not shift one another.
enum Stream : std::uint64_t { code_stream = 1, stack_stream = 2 };

Random stream(Stream which) {
    return Random(settings().seed ^ (which << 56U));
}

void hold_all() {
    hold_manager();
    if (heap_is_shuffled())
        hold_heap();
}

void resume_all() {
    if (heap_is_shuffled())
        resume_heap();
    resume_manager();
}

void start_in_child() {
    if (heap_is_shuffled())
        reset_heap_in_child();
    restart_manager_in_child();
}

void start(int /*count*/, char** /*arguments*/, char** /*environment*/) {
    load_defaults();
    if (settings().has(part_stack))
        start_stack();
    if (settings().has(part_code) || settings().has(part_stack)) {
        prepare_rounds();
        code().start(stream(code_stream), stream(stack_stream));
    }
    if (settings().report != nullptr)
        atexit(write_report);
    pthread_atfork(hold_all, resume_all, start_in_child);
    start_manager();
}

__attribute__((section(".preinit_array"), used)) void (*const before_all)(int, char**,
                                                                          char**) = start;

}  // namespace

void load_defaults() {
    program().load();
}

}  // namespace steelyard::layout
