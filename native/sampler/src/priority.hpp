// How soon a thread that takes samples gets a CPU when it wakes.

#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

namespace steelyard {

/// Puts the calling thread before everything else on its CPU, where that is allowed: what it looks
/// at goes on while it waits, unwatched.
inline void go_before_others() {
    // Timers that wake it come when they are due.
    prctl(PR_SET_TIMERSLACK, 1);
    sched_param first{};
    first.sched_priority = sched_get_priority_min(SCHED_FIFO);
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
}

}  // namespace steelyard
