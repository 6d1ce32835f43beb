// A sampler that is wrong on purpose: it looks at threads where they stop for the virtual machine,
// as many profilers of Java do, and not where they were when it wanted to look.
//
// Its profile is a text file: "STEELYARD-SAFEPOINT 1", then for each method that a running thread
// was seen in a line "N", how often, and its name, and for each look a line "T" and its time,
// fields apart by tabs, times by CLOCK_MONOTONIC in nanoseconds.

#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace steelyard {

class SafepointSampler {
  public:
    SafepointSampler(jvmtiEnv* jvmti, std::string path, std::uint64_t period_ns);

    /// Starts a thread that looks until the virtual machine ends.
    void vm_began(JNIEnv* jni);
    void vm_ended();

  private:
    static void JNICALL run(jvmtiEnv* jvmti, JNIEnv* jni, void* sampler);
    void look(JNIEnv* jni);
    /// Whether a thread took processor time since the last look. Its state does not tell: a thread
    /// that waits in native code counts as running.
    bool has_run(jthread thread);
    void write() const;

    jvmtiEnv* jvmti_;
    std::string path_;
    std::uint64_t period_ns_;
    std::atomic<bool> ended_ = false;
    std::mutex mutex_;
    std::unordered_map<jmethodID, std::uint64_t> counts_;
    std::vector<std::uint64_t> times_ns_;
};

}  // namespace steelyard
