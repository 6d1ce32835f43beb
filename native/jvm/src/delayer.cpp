#include "delayer.hpp"

#include <algorithm>
#include <cstdio>

#include "class_file.hpp"

namespace steelyard {

Delayer::Delayer(jvmtiEnv* jvmti, const AgentOptions& options)
    : jvmti_(jvmti),
      class_(options.delayed_class),
      method_(options.delayed_method),
      turns_(options.amount) {}

void Delayer::vm_began(JNIEnv* jni) {
    const Bytes content = delay_class_file();
    // Of the bootstrap loader, so that every class can see it.
    jclass delay = jni->DefineClass(delay_class.data(), nullptr,
                                    reinterpret_cast<const jbyte*>(content.data()),
                                    static_cast<jsize>(content.size()));
    jfieldID field = delay == nullptr ? nullptr : jni->GetStaticFieldID(delay, "turns", "I");
    if (field == nullptr) {
        jni->ExceptionDescribe();
        return;
    }
    jni->SetStaticIntField(delay, field, turns_);
    ready_ = true;
    const std::string signature = "L" + class_ + ";";
    jint count = 0;
    jclass* classes = nullptr;
    if (jvmti_->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE)
        return;
    for (jint at = 0; at < count; ++at) {
        char* name = nullptr;
        if (jvmti_->GetClassSignature(classes[at], &name, nullptr) != JVMTI_ERROR_NONE)
            continue;
        if (signature == name)
            jvmti_->RetransformClasses(1, &classes[at]);
        jvmti_->Deallocate(reinterpret_cast<unsigned char*>(name));
    }
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

void Delayer::class_read(const char* name, jint bytes, const unsigned char* content,
                         jint* new_bytes, unsigned char** new_content) {
    if (!ready_ || name == nullptr || class_ != name)
        return;
    const auto delayed = with_delay({content, static_cast<std::size_t>(bytes)}, method_);
    if (!delayed)
        return;
    unsigned char* memory = nullptr;
    if (jvmti_->Allocate(static_cast<jlong>(delayed->size()), &memory) != JVMTI_ERROR_NONE)
        return;
    std::ranges::copy(*delayed, memory);
    *new_bytes = static_cast<jint>(delayed->size());
    *new_content = memory;
    done_ = true;
}

void Delayer::vm_ended() const {
    if (!done_)
        std::fprintf(stderr, "steelyard: %s.%s was not delayed: no such method with code.\n",
                     class_.c_str(), method_.c_str());
}

}  // namespace steelyard
