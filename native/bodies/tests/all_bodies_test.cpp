#include "all_bodies.hpp"

#include <algorithm>
#include <vector>

#include "own_program.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

/// This program, read by some threads.
struct ReadBy {
    explicit ReadBy(std::size_t threads) : bodies(read_all(file, functions, references, threads)) {}

    ProgramFile file{own_bytes()};
    std::vector<Function> functions = find_functions(file);
    References references{file, functions};
    std::vector<Body> bodies;
};

bool same_reference(const Reference& one, const Reference& other) {
    return one.kind == other.kind && one.place == other.place && one.offset == other.offset;
}

bool same_body(const Body& one, const Body& other) {
    return one.digest == other.digest && one.loop_digest == other.loop_digest &&
           one.instructions == other.instructions && one.sketch == other.sketch &&
           std::ranges::equal(one.references, other.references, same_reference);
}

bool same_object(const DataObject& one, const DataObject& other) {
    return one.name == other.name && one.address == other.address && one.size == other.size;
}

}  // namespace

TEST("however many threads read a program, they find the same, numbered alike") {
    const ReadBy one(1);
    CHECK(one.bodies.size() == one.functions.size());
    CHECK(!one.references.externals().empty() || !one.references.objects().empty());
    for (const std::size_t threads : {2U, 3U, 7U, 50U}) {
        const ReadBy several(threads);
        CHECK(std::ranges::equal(one.bodies, several.bodies, same_body));
        CHECK(one.references.externals() == several.references.externals());
        CHECK(std::ranges::equal(one.references.objects(), several.references.objects(),
                                 same_object));
    }
}
