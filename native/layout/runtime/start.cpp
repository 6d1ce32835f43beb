/// What happens before the program's first constructor.
#include <pthread.h>
#include <stdlib.h>

#include "base.hpp"
#include "heap.hpp"
#include "manager.hpp"
#include "modules.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "stack.hpp"
#include "threads.hpp"

namespace steelyard::layout {

namespace {

void hold_all() {
    hold_manager();
    hold_base();
    if (heap_is_shuffled())
        hold_heap();
}

void resume_all() {
    if (heap_is_shuffled())
        resume_heap();
    resume_base();
    resume_manager();
}

void start_in_child() {
    reset_base_in_child();
    if (heap_is_shuffled())
        reset_heap_in_child();
    restart_manager_in_child();
}

void start(int /*count*/, char** /*arguments*/, char** /*environment*/) {
    load_defaults();
    load_base();
    if (settings().has(part_stack))
        start_stack();
    if (settings().has(part_code) || settings().has(part_stack)) {
        prepare_rounds();
        modules().start();
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
    modules().load_program();
}

}  // namespace steelyard::layout
