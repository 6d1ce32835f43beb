/// The heap alone, for programs that cannot be built again: LD_PRELOAD brings it in.
#include <pthread.h>

#include "heap.hpp"
#include "settings.hpp"

namespace steelyard::layout {

void load_defaults() {
    default_settings(part_heap, 0, 0);
}

namespace {

__attribute__((constructor)) void survive_forks() {
    if (heap_is_shuffled())
        pthread_atfork(hold_heap, resume_heap, reset_heap_in_child);
}

}  // namespace

}  // namespace steelyard::layout
