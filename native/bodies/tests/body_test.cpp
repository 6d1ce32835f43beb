#include "body.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "own_program.hpp"
#include "references.hpp"
#include "tests.hpp"

using namespace steelyard;

// What is read below; they stand in the program under these names.
extern "C" {
volatile int bodies_test_sink = 0;

extern const char bodies_test_letters[];
const char bodies_test_letters[] = "a text that has a name";

[[gnu::noinline]] const char* bodies_test_text(bool is_named) {
    return is_named ? bodies_test_letters : "a text that has none";
}

[[gnu::noinline]] void bodies_test_one(int count) {
    for (int at = 0; at < count; ++at)
        bodies_test_sink = bodies_test_sink + at * 3;
}

[[gnu::noinline]] void bodies_test_other(int count) {
    for (int at = 0; at < count; ++at)
        bodies_test_sink = bodies_test_sink - at * 5;
}

[[gnu::noinline]] double bodies_test_floating(double value) {
    return value * value + 1.5;
}

[[gnu::noinline]] void bodies_test_calling(int count) {
    bodies_test_one(count);
    bodies_test_other(count);
    bodies_test_sink = count;
}
}

namespace {

struct Read {
    Body of(std::string_view name) {
        return reader.read(functions.at(static_cast<std::size_t>(place_of(functions, name))));
    }

    ProgramFile file{own_bytes()};
    std::vector<Function> functions = find_functions(file);
    References references{file, functions};
    BodyReader reader{file, functions, references};
};

}  // namespace

TEST("functions are found once each, by rising address, and none reaches into the next") {
    const ProgramFile file(own_bytes());
    const std::vector<Function> functions = find_functions(file);
    CHECK(place_of(functions, "bodies_test_one") >= 0);
    CHECK(place_of(functions, "main") >= 0);
    for (std::size_t at = 0; at + 1 < functions.size(); ++at) {
        CHECK(functions[at].size > 0);
        CHECK(functions[at].address + functions[at].size <= functions[at + 1].address);
    }
}

TEST("an address is in the function that holds it, and in none before the first") {
    const std::vector<Function> functions{{"a", 0x100, 0x10}, {"b", 0x120, 8}};
    CHECK(function_at(functions, 0xff) == -1);
    CHECK(function_at(functions, 0x100) == 0 && function_at(functions, 0x10f) == 0);
    CHECK(function_at(functions, 0x110) == -1);
    CHECK(function_at(functions, 0x127) == 1 && function_at(functions, 0x128) == -1);
    CHECK(function_at({}, 0x100) == -1);
}

TEST("a body is the same each time it is read, and another function's is another") {
    Read read;
    const Body one = read.of("bodies_test_one");
    const Body again = read.of("bodies_test_one");
    const Body other = read.of("bodies_test_other");
    CHECK(one.digest == again.digest && one.sketch == again.sketch);
    CHECK(one.digest != other.digest);
    CHECK(one.instructions == again.instructions && one.instructions > 0);
}

TEST("loops, branches, memory and floating point are counted where they are") {
    Read read;
    const Body loop = read.of("bodies_test_one");
    const Body floating = read.of("bodies_test_floating");
    CHECK(loop.loop_digest != 0 && loop.branches > 0 && loop.memory > 0 && loop.floating == 0);
    CHECK(floating.loop_digest == 0 && floating.branches == 0 && floating.floating > 0);
}

TEST("what a body refers to is known by name, whatever address it has") {
    Read read;
    const Body calling = read.of("bodies_test_calling");
    const auto refers = [&](ReferenceKind kind, std::ptrdiff_t place) {
        return std::ranges::any_of(calling.references, [&](const Reference& one) {
            return one.kind == kind && static_cast<std::ptrdiff_t>(one.place) == place;
        });
    };
    CHECK(refers(ReferenceKind::function, place_of(read.functions, "bodies_test_one")));
    CHECK(refers(ReferenceKind::function, place_of(read.functions, "bodies_test_other")));
    const std::vector<DataObject> objects = read.references.objects();
    const auto sink = std::ranges::find(objects, "bodies_test_sink", &DataObject::name);
    CHECK(sink != objects.end() && sink->size == sizeof(int));
    CHECK(refers(ReferenceKind::data, std::distance(objects.begin(), sink)));
}

TEST("a text is one text like any other, unless a symbol names it") {
    Read read;
    const Body body = read.of("bodies_test_text");
    const std::vector<DataObject> objects = read.references.objects();
    const auto named = std::ranges::find(objects, "bodies_test_letters", &DataObject::name);
    CHECK(named != objects.end());
    CHECK(std::ranges::count(body.references, ReferenceKind::text, &Reference::kind) == 1);
    CHECK(std::ranges::any_of(body.references, [&](const Reference& one) {
        return one.kind == ReferenceKind::data && std::next(objects.begin(), one.place) == named;
    }));
}

TEST("the steps of the function that was read last are its instructions, by rising address") {
    Read read;
    const Body body = read.of("bodies_test_one");
    std::size_t counted = 0;
    std::uint64_t before = 0;
    for (const Step& step : read.reader.steps()) {
        CHECK(step.address > before);
        before = step.address;
        counted += step.is_nothing ? 0 : 1;
    }
    CHECK(counted == body.instructions);
}
