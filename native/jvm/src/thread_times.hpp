// How much processor time the threads of the program took, apart from those of the virtual machine.

#pragma once

#include <jvmti.h>
#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace steelyard {

/// Writes to a file, when the virtual machine ends, the processor time of the program's threads
/// since the machine had begun, in nanoseconds.
class ThreadTimes {
  public:
    ThreadTimes(jvmtiEnv* jvmti, std::string path);

    void vm_began();
    void thread_ended();
    void vm_ended(JNIEnv* jni);

  private:
    jvmtiEnv* jvmti_;
    std::string path_;
    std::uint64_t begin_ns_ = 0;
    std::mutex mutex_;
    // By thread of the kernel: the main thread comes back as another one to end the machine.
    std::unordered_map<pid_t, std::uint64_t> ended_ns_;
};

}  // namespace steelyard
