#include "names.hpp"

#include <algorithm>
#include <string_view>

namespace steelyard {

namespace {

/// Takes over a text that JVMTI allocated.
std::string taken(jvmtiEnv* jvmti, char* text) {
    if (text == nullptr)
        return "?";
    std::string copy = text;
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(text));
    return copy;
}

}  // namespace

std::string class_name_from(const char* signature) {
    std::string name = signature;
    if (name.size() > 2 && name.front() == 'L' && name.back() == ';')
        name = name.substr(1, name.size() - 2);
    // Of a hidden class the name ends with its address, another one in every run.
    if (const auto address = name.rfind(".0x"); address != std::string::npos)
        name.resize(address);
    if (const auto address = name.rfind("/0x"); address != std::string::npos)
        name.resize(address);
    std::ranges::replace(name, '/', '.');
    return name;
}

std::string class_name(jvmtiEnv* jvmti, jclass type) {
    char* signature = nullptr;
    jvmti->GetClassSignature(type, &signature, nullptr);
    return class_name_from(taken(jvmti, signature).c_str());
}

std::string method_name(jvmtiEnv* jvmti, jmethodID method) {
    char* name = nullptr;
    jvmti->GetMethodName(method, &name, nullptr, nullptr);
    return taken(jvmti, name);
}

std::string full_name(jvmtiEnv* jvmti, jmethodID method) {
    jclass type = nullptr;
    if (jvmti->GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE)
        return "?";
    return class_name(jvmti, type) + "." + method_name(jvmti, method);
}

}  // namespace steelyard
