#include "thread_times.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace steelyard {

ThreadTimes::ThreadTimes(jvmtiEnv* jvmti, std::string path)
    : jvmti_(jvmti), path_(std::move(path)) {}

void ThreadTimes::vm_began() {
    // The main thread has brought the machine up until now.
    jlong time_ns = 0;
    if (jvmti_->GetCurrentThreadCpuTime(&time_ns) == JVMTI_ERROR_NONE)
        begin_ns_ = static_cast<std::uint64_t>(time_ns);
}

void ThreadTimes::thread_ended() {
    jlong time_ns = 0;
    if (jvmti_->GetCurrentThreadCpuTime(&time_ns) != JVMTI_ERROR_NONE)
        return;
    const std::scoped_lock lock(mutex_);
    ended_ns_[gettid()] = static_cast<std::uint64_t>(time_ns);
}

void ThreadTimes::vm_ended(JNIEnv* jni) {
    thread_ended();
    jint count = 0;
    jthread* threads = nullptr;
    jthread own = nullptr;
    jvmti_->GetCurrentThread(&own);
    if (jvmti_->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE)
        return;
    const std::scoped_lock lock(mutex_);
    std::uint64_t sum_ns = 0;
    for (const auto& [thread, time_ns] : ended_ns_)
        sum_ns += time_ns;
    for (jint at = 0; at < count; ++at) {
        jlong time_ns = 0;
        if (!jni->IsSameObject(threads[at], own) &&
            jvmti_->GetThreadCpuTime(threads[at], &time_ns) == JVMTI_ERROR_NONE)
            sum_ns += static_cast<std::uint64_t>(time_ns);
    }
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(threads));
    std::FILE* file = std::fopen(path_.c_str(), "w");
    if (file == nullptr)
        return;
    std::fprintf(file, "%llu\n", static_cast<unsigned long long>(sum_ns - begin_ns_));
    std::fclose(file);
}

}  // namespace steelyard
