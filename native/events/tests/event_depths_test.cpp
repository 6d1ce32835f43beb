#include "event_depths.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "tests.hpp"

namespace {

using steelyard::Depths;
using steelyard::StackNote;

constexpr std::uint32_t process = 4'000'001;
constexpr std::uint32_t thread = 4'000'002;

/// The depths of an event at that time, of a thread that began its stack at 9000 at time 20.
Depths depths_at(std::uint64_t time_ns, std::uint64_t stack_pointer, std::uint64_t frame_pointer) {
    const std::string path = "/tmp/steelyard-depths-" + std::to_string(getpid());
    StackNote note;
    note.time_ns = 20;
    note.process = process;
    note.thread = thread;
    note.stack_pointer = 9000;
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&note), sizeof note);
    steelyard::EventDepths depths(
        path, [](const StackNote& noted) { return std::optional(noted.stack_pointer); });
    depths.take(steelyard::Started{{10, process, thread, process, process}});
    depths.take_notes();
    depths.take(steelyard::Started{{50, process, thread, process, process}});
    unlink(path.c_str());
    return depths.of({0, process, thread, time_ns, {}, stack_pointer, frame_pointer});
}

}  // namespace

TEST("registers are counted from where the stack of their thread begins") {
    CHECK((depths_at(30, 8900, 8960) == Depths{100, 40}));
}

TEST("a frame pointer that points elsewhere counts for nothing") {
    CHECK((depths_at(30, 8900, 5) == Depths{100, Depths::unknown}));
    CHECK((depths_at(30, 8900, 9001) == Depths{100, Depths::unknown}));
}

TEST("what is on another stack, or before or after this one, has no depth") {
    CHECK((depths_at(30, 9001, 9001) == Depths{}));
    CHECK((depths_at(15, 8900, 8960) == Depths{}));
    CHECK((depths_at(60, 8900, 8960) == Depths{}));
}
