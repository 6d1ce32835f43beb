// A mutex whose holder runs as urgently as the most urgent thread that waits for it.

#pragma once

#include <pthread.h>

#include "fatal.hpp"

namespace steelyard {

/// Threads that serve samples run before all others; what holds them up must not wait for its turn.
class InheritingMutex {
  public:
    InheritingMutex() {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        // Where the system cannot do it, it is a mutex all the same.
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        const int failed = pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
        if (failed != 0)
            throw Fatal("The system gives the sampler no mutex.");
    }
    ~InheritingMutex() { pthread_mutex_destroy(&mutex_); }
    InheritingMutex(const InheritingMutex&) = delete;
    InheritingMutex& operator=(const InheritingMutex&) = delete;

    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

  private:
    pthread_mutex_t mutex_;
};

}  // namespace steelyard
