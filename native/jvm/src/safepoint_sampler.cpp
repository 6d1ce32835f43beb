#include "safepoint_sampler.hpp"

#include <time.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "monotonic.hpp"
#include "names.hpp"

namespace steelyard {

namespace {

constexpr char thread_name[] = "steelyard safepoint sampler";

jthread new_thread(JNIEnv* jni) {
    jclass type = jni->FindClass("java/lang/Thread");
    jmethodID constructor = jni->GetMethodID(type, "<init>", "(Ljava/lang/String;)V");
    return jni->NewObject(type, constructor, jni->NewStringUTF(thread_name));
}

}  // namespace

SafepointSampler::SafepointSampler(jvmtiEnv* jvmti, std::string path, std::uint64_t period_ns)
    : jvmti_(jvmti), path_(std::move(path)), period_ns_(period_ns) {}

void SafepointSampler::vm_began(JNIEnv* jni) {
    jvmti_->RunAgentThread(new_thread(jni), run, this, JVMTI_THREAD_MAX_PRIORITY);
}

void SafepointSampler::vm_ended() {
    ended_ = true;
    // The thread that looks may be counting still.
    const std::scoped_lock lock(mutex_);
    write();
}

void JNICALL SafepointSampler::run(jvmtiEnv* /*jvmti*/, JNIEnv* jni, void* sampler) {
    auto& self = *static_cast<SafepointSampler*>(sampler);
    const timespec pause{static_cast<time_t>(self.period_ns_ / nanoseconds),
                         static_cast<long>(self.period_ns_ % nanoseconds)};
    while (!self.ended_) {
        nanosleep(&pause, nullptr);
        self.look(jni);
    }
}

bool SafepointSampler::has_run(jthread thread) {
    jlong time_ns = 0;
    void* last = nullptr;
    if (jvmti_->GetThreadCpuTime(thread, &time_ns) != JVMTI_ERROR_NONE ||
        jvmti_->GetThreadLocalStorage(thread, &last) != JVMTI_ERROR_NONE)
        return false;
    void* now = reinterpret_cast<void*>(static_cast<std::uintptr_t>(time_ns));  // NOLINT
    jvmti_->SetThreadLocalStorage(thread, now);
    return now != last;
}

void SafepointSampler::look(JNIEnv* jni) {
    constexpr jint handles = 64;
    jvmtiStackInfo* stacks = nullptr;
    jint count = 0;
    if (jni->PushLocalFrame(handles) != 0)
        return;
    jthread own = nullptr;
    jvmti_->GetCurrentThread(&own);
    // The virtual machine stops all threads for this, each at its next safepoint.
    if (jvmti_->GetAllStackTraces(1, &stacks, &count) == JVMTI_ERROR_NONE) {
        const std::scoped_lock lock(mutex_);
        times_ns_.push_back(now_ns());
        for (jint at = 0; at < count; ++at) {
            if (stacks[at].frame_count > 0 && has_run(stacks[at].thread) &&
                !jni->IsSameObject(stacks[at].thread, own))
                ++counts_[stacks[at].frame_buffer[0].method];
        }
        jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stacks));
    }
    jni->PopLocalFrame(nullptr);
}

void SafepointSampler::write() const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path_.c_str(), "w"),
                                                               std::fclose);
    if (!file) {
        std::fprintf(stderr, "steelyard: the profile %s cannot be written.\n", path_.c_str());
        return;
    }
    std::fputs("STEELYARD-SAFEPOINT 1\n", file.get());
    for (const auto& [method, count] : counts_)
        std::fprintf(file.get(), "N\t%llu\t%s\n", static_cast<unsigned long long>(count),
                     full_name(jvmti_, method).c_str());
    for (const std::uint64_t time_ns : times_ns_)
        std::fprintf(file.get(), "T\t%llu\n", static_cast<unsigned long long>(time_ns));
}

}  // namespace steelyard
