// Finds the functions of libraries whose names the runtime takes, such as dlopen and execve,
// without a call of dlsym.

#pragma once

namespace steelyard::layout {

/// The default version of a function in the first library behind the program that has it; null
/// where none has. It is what dlsym(RTLD_NEXT) finds for the program, without a call of dlsym,
/// whose place is taken here.
void* next_definition(const char* name);

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(next_definition(name));
}

}  // namespace steelyard::layout
