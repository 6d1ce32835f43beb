#include "report.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

#include "code.hpp"
#include "pages.hpp"
#include "program.hpp"
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
         << ", \"heap\": " << flag(settings().has(part_heap)) << "}";
}

void write_code(Text& text) {
    const CodeCounts& counts = code().counts();
    const ThreadCounts& threads = thread_counts();
    text << ", \"functions\": " << program().function_count() << ", \"moves\": " << counts.moves
         << ", \"postponed\": " << counts.postponed << ", \"copies_freed\": " << counts.freed
         << ", \"copies_are_freed\": " << flag(code().frees())
         << ", \"copies_bytes\": " << code().arena().used_pages() * page_bytes
         << ", \"most_copies_bytes\": " << code().arena().most_used_pages() * page_bytes
         << ", \"longest_move_ns\": " << counts.longest_move_ns
         << ", \"total_move_ns\": " << counts.total_move_ns
         << ", \"interruptions\": " << threads.interruptions
         << ", \"longest_pause_ns\": " << threads.longest_pause_ns
         << ", \"total_pause_ns\": " << threads.total_pause_ns;
}

void write_exempted(Text& text) {
    const char* name = program().exempted();
    text << ", \"exempted\": [";
    for (std::uint32_t at = 0; at < program().header().exempted_count; ++at) {
        const char* reason = name;
        while (*reason++ != '\0') {
        }
        text << (at == 0 ? "\n" : ",\n") << "{\"name\": ";
        text.quoted(name) << ", \"reason\": ";
        text.quoted(reason) << "}";
        name = reason;
        while (*name++ != '\0') {
        }
    }
    text << "]";
}

/// What the dynamic linker loaded lies where it put it; the kernel's own library has no file.
int write_library(dl_phdr_info* about, std::size_t /*size*/, void* place) {
    auto& text = *static_cast<Text*>(place);
    if (about->dlpi_name != nullptr && about->dlpi_name[0] == '/') {
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
    write_code(text);
    text << ", \"libraries\": [";
    dl_iterate_phdr(write_library, &text);
    text << "]";
    write_exempted(text);
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
