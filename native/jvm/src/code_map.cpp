#include "code_map.hpp"

#include <fcntl.h>
#include <jvmticmlr.h>
#include <unistd.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>

#include "fatal.hpp"
#include "monotonic.hpp"
#include "names.hpp"

namespace steelyard {

namespace {

void put(std::string& line, std::uint64_t number) {
    char digits[std::numeric_limits<std::uint64_t>::digits / 4];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
    line.append(digits, end);
}

std::uint64_t number_from(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

void begin(std::string& lines, char kind, const void* code) {
    lines += kind;
    lines += '\t';
    put(lines, now_ns());
    lines += '\t';
    put(lines, number_from(code));
}

/// Whether a method's identifier points to a cell with the address of the virtual machine's own
/// description of the method, by which interpreted frames know it. True of HotSpot up to JDK 24.
bool identifiers_point(jvmtiEnv* jvmti) {
    constexpr int last_known = 24;
    char* version = nullptr;
    if (jvmti->GetSystemProperty("java.vm.specification.version", &version) != JVMTI_ERROR_NONE)
        return false;
    // "17", and "1.8" of old.
    int number = 0;
    const std::string_view text = version;
    const bool read = std::from_chars(text.begin(), text.end(), number).ec == std::errc();
    const bool points = read && number <= last_known;
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(version));
    return points;
}

/// An agent that was loaded into this process before may still write to a file of that name.
int file_of_its_own(const std::string& path) {
    unlink(path.c_str());
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
}

const jvmtiCompiledMethodLoadInlineRecord* inline_record(const void* details) {
    auto* record = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(details);
    while (record != nullptr && record->kind != JVMTI_CMLR_INLINE_INFO)
        record = record->next;
    return reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(record);
}

}  // namespace

CodeMap::CodeMap(jvmtiEnv* jvmti, const std::string& path)
    : jvmti_(jvmti), identifiers_point_(identifiers_point(jvmti)), file_(file_of_its_own(path)) {
    if (file_ < 0)
        throw Fatal::with_errno("The code map " + path + " cannot be written");
    write("STEELYARD-JAVA-CODE 2\n");
}

CodeMap::~CodeMap() {
    close(file_);
}

void CodeMap::vm_began() {
    const std::scoped_lock lock(mutex_);
    std::string line = "B\t";
    put(line, now_ns());
    write(line + "\n");
}

void CodeMap::class_prepared(jclass type) {
    jint count = 0;
    jmethodID* methods = nullptr;
    // Identifiers exist once they were asked for, and inlined methods are told of by them alone.
    if (jvmti_->GetClassMethods(type, &count, &methods) != JVMTI_ERROR_NONE)
        return;
    const std::string name = class_name(jvmti_, type);
    std::string lines;
    const std::scoped_lock lock(mutex_);
    for (jint at = 0; at < count; ++at)
        numbered(methods[at], name, lines);
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(methods));
    write(lines);
}

void CodeMap::loaded(jmethodID method, jint bytes, const void* code, const void* details) {
    const std::scoped_lock lock(mutex_);
    std::string lines;
    std::string load;
    begin(load, 'L', code);
    load += '\t';
    put(load, static_cast<std::uint64_t>(bytes));
    load += '\t';
    put(load, number_of(method, lines));
    const auto* record = inline_record(details);
    for (jint at = 0; record != nullptr && at < record->numpcs; ++at) {
        const PCStackInfo& place = record->pcinfo[at];
        load += '\t';
        put(load, number_from(place.pc) - number_from(code));
        for (jint frame = 0; frame < place.numstackframes; ++frame) {
            load += frame == 0 ? ':' : ',';
            put(load, number_of(place.methods[frame], lines));
            load += '@';
            put(load, static_cast<std::uint32_t>(place.bcis[frame]));
        }
    }
    write(lines + load + "\n");
}

void CodeMap::unloaded(const void* code) {
    const std::scoped_lock lock(mutex_);
    std::string line;
    begin(line, 'U', code);
    write(line + "\n");
}

void CodeMap::generated(const char* name, const void* code, jint bytes) {
    const std::scoped_lock lock(mutex_);
    std::string line;
    begin(line, 'D', code);
    line += '\t';
    put(line, static_cast<std::uint64_t>(bytes));
    write(line + "\t" + name + "\n");
}

std::uint32_t CodeMap::number_of(jmethodID method, std::string& lines) {
    const auto known = numbers_.find(method);
    if (known != numbers_.end())
        return known->second;
    jclass type = nullptr;
    if (jvmti_->GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE)
        return numbered(method, "?", lines);
    return numbered(method, class_name(jvmti_, type), lines);
}

std::uint32_t CodeMap::numbered(jmethodID method, const std::string& class_name,
                                std::string& lines) {
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    const auto [entry, is_new] = numbers_.try_emplace(method, number);
    if (!is_new)
        return entry->second;
    lines += "M\t";
    put(lines, now_ns());
    lines += '\t';
    put(lines, number);
    lines += '\t';
    const bool known = identifiers_point_ && method != nullptr;
    put(lines, known ? *reinterpret_cast<const std::uint64_t*>(method) : 0);
    lines += '\t' + class_name + '.' + method_name(jvmti_, method) + '\n';
    return number;
}

void CodeMap::write(const std::string& lines) {
    std::size_t done = 0;
    while (done < lines.size()) {
        const ssize_t written = ::write(file_, lines.data() + done, lines.size() - done);
        // A disk that is full must not stop the program; the report tells of a cut map.
        if (written <= 0)
            return;
        done += static_cast<std::size_t>(written);
    }
}

}  // namespace steelyard
