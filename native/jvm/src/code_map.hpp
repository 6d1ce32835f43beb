// The code map: which method each piece of machine code belonged to, and from when to when.
//
// A text file: "STEELYARD-JAVA-CODE 2", then a line for each thing that happened, its fields apart
// by tabs, numbers hexadecimal, times by CLOCK_MONOTONIC in nanoseconds. Each line is written at
// once, so that the file is whole up to the moment at which a process was killed.
//
//   M  method     time, its number, the word by which interpreted frames know it (0: unknown),
//                 name
//   L  load       time, start of the code, its bytes, number of its method, and then for places in
//                 it OFFSET:NUMBER@INDEX,NUMBER@INDEX,...: instructions from behind the last place
//                 up to this one belong to the first method, which was inlined into the next, and
//                 so on; the index is that of the bytecode in the method
//   U  unload     time, start of the code
//   B  begin      time: the virtual machine had begun, and the program was next
//   D  dynamic    time, start of the code, its bytes, name: code that is no method, such as the
//                 interpreter
//
// The virtual machine tells of code some time after it was made, but in the right order.

#pragma once

#include <jvmti.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace steelyard {

class CodeMap {
  public:
    /// Throws Fatal when the file cannot be made.
    CodeMap(jvmtiEnv* jvmti, const std::string& path);
    ~CodeMap();
    CodeMap(const CodeMap&) = delete;
    CodeMap& operator=(const CodeMap&) = delete;

    void vm_began();
    void class_prepared(jclass type);
    void loaded(jmethodID method, jint bytes, const void* code, const void* details);
    void unloaded(const void* code);
    void generated(const char* name, const void* code, jint bytes);

  private:
    std::uint32_t number_of(jmethodID method, std::string& lines);
    std::uint32_t numbered(jmethodID method, const std::string& class_name, std::string& lines);
    void write(const std::string& lines);

    jvmtiEnv* jvmti_;
    bool identifiers_point_;
    int file_;
    std::mutex mutex_;
    std::unordered_map<jmethodID, std::uint32_t> numbers_;
};

}  // namespace steelyard
