/// What happens before the program's first constructor.
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base.hpp"
#include "heap.hpp"
#include "modules.hpp"
#include "mover.hpp"
#include "raw.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "stack.hpp"
#include "surroundings.hpp"
#include "threads.hpp"

// What malloc and free are, where the program does not define them (malloc.cpp).
extern "C" void* steelyard_malloc(std::size_t size) noexcept;
extern "C" void steelyard_free(void* object) noexcept;

namespace steelyard::layout {

namespace {

/// A compiler may take two names for two functions.
template <typename Function>
bool are_same(Function* one, Function* other) {
    asm("" : "+r"(one));
    return one == other;
}

void hold_all() {
    hold_moves();
    hold_base();
    if (heap_is_shuffled())
        hold_heap();
}

void resume_all() {
    if (heap_is_shuffled())
        resume_heap();
    resume_base();
    resume_moves();
}

void start_in_child() {
    reset_base_in_child();
    if (heap_is_shuffled())
        reset_heap_in_child();
    restart_mover_in_child();
}

void start(int /*count*/, char** /*arguments*/, char** /*environment*/) {
    load_defaults();
    load_base();
    if (settings().has(part_stack))
        start_stack();
    if (settings().has(part_code) || settings().has(part_stack)) {
        if (settings().interval_ns != 0 && !can_list_threads()) {
            draw_only_once();
            tell("there is no /proc to find threads by: the layout is drawn once, at the start");
        }
        prepare_rounds();
        modules().start();
    }
    if (settings().report != nullptr)
        atexit(write_report);
    atexit(stop_mover);  // before the report, as what is asked for last is done first
    pthread_atfork(hold_all, resume_all, start_in_child);
    modules().forget_files();
    start_mover();
}

/// Its end without the functions of atexit(3).
[[noreturn]] void end(int status) {
    stop_mover();
    while (true)
        raw(SYS_exit_group, status);
}

__attribute__((section(".preinit_array"), used)) void (*const before_all)(int, char**,
                                                                          char**) = start;

}  // namespace

void load_defaults() {
    modules().load_program();
    if (!are_same(malloc, steelyard_malloc) || !are_same(free, steelyard_free))
        leave_heap_to_program();
}

#define STEELYARD_END(name)                                                                       \
    extern "C" __attribute__((visibility("default"), section("steelyard_text"), used)) void name( \
        int status)

STEELYARD_END(_exit) {
    end(status);
}

STEELYARD_END(_Exit) {
    end(status);
}

}  // namespace steelyard::layout
