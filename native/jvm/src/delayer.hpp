// Delays methods of one name in one class, by rewriting the class when it is loaded.

#pragma once

#include <jvmti.h>

#include <string>

#include "options.hpp"

namespace steelyard {

class Delayer {
  public:
    Delayer(jvmtiEnv* jvmti, const AgentOptions& options);

    /// Makes the class that holds the amount, and rewrites the class if it was loaded before.
    void vm_began(JNIEnv* jni);
    /// Gives the class anew where it is the one that is wanted.
    void class_read(const char* name, jint bytes, const unsigned char* content, jint* new_bytes,
                    unsigned char** new_content);
    /// Says so where nothing was delayed: a profile of a delay that is not there proves nothing.
    void vm_ended() const;

  private:
    jvmtiEnv* jvmti_;
    std::string class_;
    std::string method_;
    jint turns_;
    bool ready_ = false;
    bool done_ = false;
};

}  // namespace steelyard
