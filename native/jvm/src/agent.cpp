// The agent: a library that a Java virtual machine loads (JVM Tool Interface 9 or newer), and that
// does what its options ask for.

#include <jvmti.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "code_map.hpp"
#include "delayer.hpp"
#include "fatal.hpp"
#include "options.hpp"
#include "safepoint_sampler.hpp"
#include "thread_times.hpp"

namespace steelyard {

namespace {

/// What was asked for by one set of options; a machine may load the agent with several. Lives as
/// long as the process, since events may come until its very end.
struct Agent {
    std::unique_ptr<CodeMap> map;
    std::unique_ptr<Delayer> delayer;
    std::unique_ptr<SafepointSampler> sampler;
    std::unique_ptr<ThreadTimes> times;
};

Agent& agent_of(jvmtiEnv* jvmti) {
    void* agent = nullptr;
    jvmti->GetEnvironmentLocalStorage(&agent);
    return *static_cast<Agent*>(agent);
}

void map_present_classes(jvmtiEnv* jvmti, JNIEnv* jni) {
    jint count = 0;
    jclass* classes = nullptr;
    if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE)
        return;
    for (jint at = 0; at < count; ++at) {
        agent_of(jvmti).map->class_prepared(classes[at]);
        jni->DeleteLocalRef(classes[at]);
    }
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

void JNICALL vm_began(jvmtiEnv* jvmti, JNIEnv* jni, jthread /*thread*/) {
    const Agent& agent = agent_of(jvmti);
    if (agent.delayer)
        agent.delayer->vm_began(jni);
    if (agent.map)
        map_present_classes(jvmti, jni);
    if (agent.sampler)
        agent.sampler->vm_began(jni);
    if (agent.times)
        agent.times->vm_began();
    if (agent.map)
        agent.map->vm_began();
}

void JNICALL vm_ended(jvmtiEnv* jvmti, JNIEnv* jni) {
    const Agent& agent = agent_of(jvmti);
    if (agent.times)
        agent.times->vm_ended(jni);
    if (agent.sampler)
        agent.sampler->vm_ended();
    if (agent.delayer)
        agent.delayer->vm_ended();
}

void JNICALL thread_ended(jvmtiEnv* jvmti, JNIEnv* /*jni*/, jthread /*thread*/) {
    agent_of(jvmti).times->thread_ended();
}

void JNICALL class_prepared(jvmtiEnv* jvmti, JNIEnv* /*jni*/, jthread /*thread*/, jclass type) {
    agent_of(jvmti).map->class_prepared(type);
}

// The parameters of these two are those of JVMTI.
void JNICALL class_read(  // NOLINT(readability-function-size)
    jvmtiEnv* jvmti, JNIEnv* /*jni*/, jclass /*redefined*/, jobject /*loader*/, const char* name,
    jobject /*domain*/, jint bytes, const unsigned char* content, jint* new_bytes,
    unsigned char** new_content) {
    agent_of(jvmti).delayer->class_read(name, bytes, content, new_bytes, new_content);
}

void JNICALL code_loaded(  // NOLINT(readability-function-size)
    jvmtiEnv* jvmti, jmethodID method, jint bytes, const void* code, jint /*count*/,
    const jvmtiAddrLocationMap* /*places*/, const void* details) {
    agent_of(jvmti).map->loaded(method, bytes, code, details);
}

void JNICALL code_unloaded(jvmtiEnv* jvmti, jmethodID /*method*/, const void* code) {
    agent_of(jvmti).map->unloaded(code);
}

void JNICALL code_generated(jvmtiEnv* jvmti, const char* name, const void* code, jint bytes) {
    agent_of(jvmti).map->generated(name, code, bytes);
}

void require(jvmtiError error, const char* what) {
    if (error != JVMTI_ERROR_NONE)
        throw Fatal(std::string("This virtual machine does not allow to ") + what + " (error " +
                    std::to_string(error) + " of JVMTI).");
}

void enable(jvmtiEnv* jvmti, jvmtiEvent event) {
    require(jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr), "be told of events");
}

void set_up(jvmtiEnv* jvmti, Agent& agent, const AgentOptions& options) {
    require(jvmti->SetEnvironmentLocalStorage(&agent), "keep what belongs to it");
    jvmtiCapabilities wanted{};
    wanted.can_generate_compiled_method_load_events = options.map_path.empty() ? 0 : 1;
    wanted.can_generate_all_class_hook_events = options.delayed_class.empty() ? 0 : 1;
    wanted.can_retransform_classes = options.delayed_class.empty() ? 0 : 1;
    wanted.can_retransform_any_class = options.delayed_class.empty() ? 0 : 1;
    const bool wants_times = !options.times_path.empty() || !options.safepoint_path.empty();
    wanted.can_get_thread_cpu_time = wants_times ? 1 : 0;
    wanted.can_get_current_thread_cpu_time = options.times_path.empty() ? 0 : 1;
    require(jvmti->AddCapabilities(&wanted), "follow its code");
    jvmtiEventCallbacks callbacks{};
    callbacks.VMInit = vm_began;
    callbacks.VMDeath = vm_ended;
    callbacks.ThreadEnd = thread_ended;
    callbacks.ClassPrepare = class_prepared;
    callbacks.ClassFileLoadHook = class_read;
    callbacks.CompiledMethodLoad = code_loaded;
    callbacks.CompiledMethodUnload = code_unloaded;
    callbacks.DynamicCodeGenerated = code_generated;
    require(jvmti->SetEventCallbacks(&callbacks, sizeof callbacks), "be told of events");
    enable(jvmti, JVMTI_EVENT_VM_INIT);
    enable(jvmti, JVMTI_EVENT_VM_DEATH);
    if (!options.map_path.empty()) {
        agent_of(jvmti).map =
            std::make_unique<CodeMap>(jvmti, options.map_path + "-" + std::to_string(getpid()));
        for (const jvmtiEvent event :
             {JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_COMPILED_METHOD_LOAD,
              JVMTI_EVENT_COMPILED_METHOD_UNLOAD, JVMTI_EVENT_DYNAMIC_CODE_GENERATED})
            enable(jvmti, event);
    }
    if (!options.delayed_class.empty()) {
        agent_of(jvmti).delayer = std::make_unique<Delayer>(jvmti, options);
        enable(jvmti, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    }
    if (!options.times_path.empty()) {
        agent_of(jvmti).times = std::make_unique<ThreadTimes>(jvmti, options.times_path);
        enable(jvmti, JVMTI_EVENT_THREAD_END);
    }
    if (!options.safepoint_path.empty())
        agent_of(jvmti).sampler =
            std::make_unique<SafepointSampler>(jvmti, options.safepoint_path, options.period_ns);
}

/// Gives the environment, or nothing where the agent cannot do what it is asked for.
jvmtiEnv* begin(JavaVM* machine, const char* text) {
    jvmtiEnv* jvmti = nullptr;
    if (machine->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_9) != JNI_OK) {
        std::fprintf(stderr,
                     "steelyard: this virtual machine has no JVMTI 9: take Java 9 or newer.\n");
        return nullptr;
    }
    try {
        set_up(jvmti, *new Agent, agent_options_from(text == nullptr ? "" : text));
    } catch (const Fatal& fatal) {
        std::fprintf(stderr, "steelyard: %s\n", fatal.message.c_str());
        return nullptr;
    }
    return jvmti;
}

}  // namespace

}  // namespace steelyard

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* machine, char* options, void* /*reserved*/) {
    return steelyard::begin(machine, options) == nullptr ? JNI_ERR : JNI_OK;
}

/// Of a virtual machine that runs already: tells of the code and the classes that are there.
extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* machine, char* options,
                                                 void* /*reserved*/) {
    jvmtiEnv* jvmti = steelyard::begin(machine, options);
    JNIEnv* jni = nullptr;
    if (jvmti == nullptr ||
        machine->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_9) != JNI_OK)
        return JNI_ERR;
    if (steelyard::agent_of(jvmti).map) {
        steelyard::map_present_classes(jvmti, jni);
        jvmti->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
        jvmti->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
    }
    return JNI_OK;
}
