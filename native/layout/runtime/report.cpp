#include "report.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

#include "modules.hpp"
#include "pages.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "threads.hpp"

namespace steelyard::layout {

namespace {

const char* flag(bool value) {
    return value ? "true" : "false";
}

void write_parts(Text& text) {
    text << R"("parts": {"code": )" << flag(settings().has(part_code))
         << ", \"stack\": " << flag(settings().has(part_stack))
         << ", \"heap\": " << flag(settings().has(part_heap))
         << ", \"blocks\": " << flag(settings().has(part_blocks))
         << "}, \"own_malloc\": " << flag(settings().own_malloc);
}

/// Of the program and of the libraries that it has loaded, those that it has closed among them.
void write_modules(Text& text) {
    std::uint64_t functions = 0;
    text << ", \"moving_libraries\": [";
    for (std::uint32_t index = 0; index < modules().count(); ++index) {
        const Module& module = modules().at(index);
        functions += module.functions;
        if (module.path == nullptr || !module.moves)
            continue;
        text << (text.data()[text.size() - 1] == '[' ? "" : ", ") << "{\"path\": ";
        text.quoted(module.path) << ", \"functions\": " << module.functions << "}";
    }
    text << "], \"functions\": " << functions;
}

void write_code(Text& text) {
    const MoveCounts& counts = modules().counts();
    const ThreadCounts& threads = thread_counts();
    text << ", \"moves\": " << counts.moves << ", \"postponed\": " << counts.postponed
         << ", \"copies_freed\": " << counts.freed
         << ", \"copies_are_freed\": " << flag(mover_failure == nullptr)
         << ", \"memory_is_searched\": " << flag(modules().searches_memory())
         << ", \"copies_bytes\": " << counts.copy_pages * page_bytes
         << ", \"most_copies_bytes\": " << counts.most_copy_pages * page_bytes
         << ", \"longest_move_ns\": " << counts.longest_move_ns
         << ", \"total_move_ns\": " << counts.total_move_ns
         << ", \"interruptions\": " << threads.interruptions
         << ", \"longest_pause_ns\": " << threads.longest_pause_ns
         << ", \"total_pause_ns\": " << threads.total_pause_ns;
}

void write_exempted(Text& text, const Program& program) {
    const char* name = program.exempted();
    for (std::uint32_t at = 0; at < program.header().exempted_count; ++at) {
        const char* reason = name;
        while (*reason++ != '\0') {
        }
        text << (text.data()[text.size() - 1] == '[' ? "\n" : ",\n") << "{\"name\": ";
        text.quoted(name) << ", \"reason\": ";
        text.quoted(reason) << "}";
        name = reason;
        while (*name++ != '\0') {
        }
    }
}

/// Of all that is loaded now.
void write_all_exempted(Text& text) {
    text << ", \"exempted\": [";
    for (std::uint32_t index = 0; index < modules().count(); ++index) {
        if (modules().at(index).image != nullptr)
            write_exempted(text, modules().at(index).code.program());
    }
    text << "]";
}

bool moves(const char* path) {
    for (std::uint32_t index = 1; index < modules().count(); ++index) {
        const Module& module = modules().at(index);
        if (module.image != nullptr && same_text(module.path, path))
            return true;
    }
    return false;
}

/// What was not built for moving lies where the dynamic linker put it; the kernel's own library has
/// no file.
int write_library(dl_phdr_info* about, std::size_t /*size*/, void* place) {
    auto& text = *static_cast<Text*>(place);
    if (about->dlpi_name != nullptr && about->dlpi_name[0] != '\0' &&
        !same_text(about->dlpi_name, "linux-vdso.so.1") && !moves(about->dlpi_name)) {
        text << (text.data()[text.size() - 1] == '[' ? "" : ", ");
        text.quoted(about->dlpi_name);
    }
    return 0;
}

}  // namespace

void write_report() {
    Text text;
    text << R"({"schema": "steelyard/1", "kind": "layout-run", )";
    write_parts(text);
    text << ", \"interval_ns\": " << settings().interval_ns << ", \"seed\": " << settings().seed;
    write_modules(text);
    write_code(text);
    text << ", \"libraries\": [";
    dl_iterate_phdr(write_library, &text);
    text << "]";
    write_all_exempted(text);
    text << "}\n";
    constexpr long mode = 0666;
    const long file =
        raw(SYS_open, word(settings().report), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (failed(file)) {
        tell("the report cannot be written to ", settings().report);
        return;
    }
    raw(SYS_write, file, word(text.data()), static_cast<long>(text.size()));
    raw(SYS_close, file);
}

}  // namespace steelyard::layout
