#include "options.hpp"

#include <string>
#include <vector>

#include "fatal.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

Options parsed(std::vector<const char*> words) {
    words.insert(words.begin(), "steelyard-container");
    return options_from(static_cast<int>(words.size()), words.data());
}

std::string refusal(std::vector<const char*> words) {
    try {
        parsed(std::move(words));
    } catch (const Fatal& fatal) {
        return fatal.message;
    }
    return "";
}

}  // namespace

TEST("words become options, and the command follows two dashes") {
    const Options found = parsed({"hold", "/state", "--kind=trusted", "--inodes=7", "--network",
                                  "--readable=/a=b", "--readable=/c", "--", "./run.sh", "--x"});
    CHECK(found.action == "hold");
    CHECK(found.state == "/state");
    CHECK(found.kind == Kind::trusted);
    CHECK(found.inodes == 7);
    CHECK(found.network);
    CHECK(found.readable == std::vector<std::string>({"/a=b", "/c"}));
    CHECK(found.command == std::vector<std::string>({"./run.sh", "--x"}));
}

TEST("what is not known is refused") {
    CHECK(!refusal({"fly", "/state"}).empty());
    CHECK(!refusal({"hold"}).empty());
    CHECK(!refusal({"hold", "/state", "--kind=other"}).empty());
    CHECK(!refusal({"hold", "/state", "--inodes=many"}).empty());
    CHECK(!refusal({"hold", "/state", "--inodes=-1"}).empty());
    CHECK(!refusal({"hold", "/state", "word"}).empty());
}
