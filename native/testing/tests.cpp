#include "tests.hpp"

#include <cstdio>
#include <vector>

namespace {

struct Registered {
    std::string_view name;
    void (*body)();
};

std::vector<Registered>& registered() {
    static std::vector<Registered> tests;
    return tests;
}

int failures = 0;

}  // namespace

Test::Test(std::string_view name, void (*body)()) {
    registered().push_back({name, body});
}

void check(bool holds, const char* file, int line, const char* expression) {
    if (holds)
        return;
    ++failures;
    std::printf("%s:%d: does not hold: %s\n", file, line, expression);
}

int main() {
    for (const auto& test : registered()) {
        const int before = failures;
        test.body();
        std::printf("%s %.*s\n", failures == before ? "ok  " : "FAIL",
                    static_cast<int>(test.name.size()), test.name.data());
    }
    return failures == 0 ? 0 : 1;
}
