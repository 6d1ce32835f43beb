#include "program.hpp"

#include "tests.hpp"

namespace {

using steelyard::Comm;
using steelyard::Lifetime;
using steelyard::Mapping;
using steelyard::Program;
using steelyard::SideBandRecord;
using steelyard::Started;
using steelyard::Whose;

// Far above what Linux gives to processes (4,194,304), so that /proc knows none of them.
constexpr std::uint32_t launcher = 60'000'001, first = 60'000'002, child = 60'000'003,
                        later = 60'000'004;

SideBandRecord start_of(std::uint32_t process, std::uint32_t from) {
    return Started{Lifetime{1, process, process, from, from}};
}

SideBandRecord execution_of(std::uint32_t process) {
    return Comm{2, process, process, true, "program"};
}

SideBandRecord mapping_of(std::uint32_t process, const char* path) {
    return Mapping{3, process, 0x1000, 0x1000, 0x400, path, 0, {}};
}

}  // namespace

TEST("the program is what is executed first, with all that it starts") {
    Program program;
    program.take(start_of(first, launcher));
    program.take(mapping_of(first, "/bin/launcher"));
    CHECK(program.whose(first, 0, 0x1010) == Whose::strangers);
    program.take(execution_of(first));
    program.take(mapping_of(first, "/bin/program"));
    CHECK(program.whose(first, 0, 0x1010) == Whose::programs);
    program.take(start_of(child, first));
    CHECK(program.whose(child, 0, 0x1010) == Whose::programs);
    program.take(start_of(later, launcher));
    program.take(execution_of(later));
    program.take(mapping_of(later, "/bin/later"));
    CHECK(program.whose(later, 0, 0x1010) == Whose::strangers);
}

TEST("a program runs from its first address that is known, and then wherever it is") {
    Program program;
    program.take(execution_of(first));
    CHECK(program.whose(first, 0, 0x7fff0000) == Whose::strangers);
    program.take(mapping_of(first, "/bin/program"));
    CHECK(program.whose(first, 0, 0x7fff0000) == Whose::strangers);
    CHECK(program.whose(first, 0, 0x1010) == Whose::programs);
    CHECK(program.whose(first, 0, 0x7fff0000) == Whose::programs);
    program.take(execution_of(first));
    CHECK(program.whose(first, 0, 0x7fff0000) == Whose::kernels);
}

TEST("places are of what is executed now, not of what was mapped before it") {
    Program program;
    program.take(execution_of(first));
    program.take(mapping_of(first, "/bin/sh"));
    const auto before = program.place_of(first, 0x1010);
    CHECK(before && *before->path == "/bin/sh" && before->offset == 0x410);
    program.take(execution_of(first));
    CHECK(!program.place_of(first, 0x1010));
    program.take(mapping_of(first, "/bin/other"));
    const auto after = program.place_of(first, 0x1010);
    CHECK(after && *after->path == "/bin/other");
}
