// Names of classes and methods, as stack traces print them.

#pragma once

#include <jvmti.h>

#include <string>

namespace steelyard {

/// Of "Ljava/util/Map$Entry;" java.util.Map$Entry; a hidden class without its address.
std::string class_name_from(const char* signature);
std::string class_name(jvmtiEnv* jvmti, jclass type);
std::string method_name(jvmtiEnv* jvmti, jmethodID method);
/// With its class: java.util.HashMap.get.
std::string full_name(jvmtiEnv* jvmti, jmethodID method);

}  // namespace steelyard
