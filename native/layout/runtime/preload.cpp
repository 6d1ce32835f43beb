/// The heap alone, for programs that cannot be built again: LD_PRELOAD brings it in.
#include <pthread.h>

#include "base.hpp"
#include "heap.hpp"
#include "settings.hpp"

namespace steelyard::layout {

void load_defaults() {
    default_settings(part_heap, 0, 0);
}

namespace {

void hold() {
    hold_base();
    hold_heap();
}

void resume() {
    resume_heap();
    resume_base();
}

void reset_in_child() {
    reset_heap_in_child();
    reset_base_in_child();
}

__attribute__((constructor)) void start() {
    load_base();
    if (heap_is_shuffled())
        pthread_atfork(hold, resume, reset_in_child);
}

}  // namespace

}  // namespace steelyard::layout
