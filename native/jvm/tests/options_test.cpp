#include "options.hpp"

#include "fatal.hpp"
#include "tests.hpp"

TEST("options are read with any character in the names of files") {
    const auto options = steelyard::agent_options_from(
        "map=/tmp/a%20b%2Cc%3D,delay=java.util.HashMap.get,amount=12,period=500");
    CHECK(options.map_path == "/tmp/a b,c=");
    CHECK(options.delayed_class == "java/util/HashMap");
    CHECK(options.delayed_method == "get");
    CHECK(options.amount == 12);
    CHECK(options.period_ns == 500);
    CHECK(options.safepoint_path.empty());
}

TEST("what an agent does not understand is told of") {
    for (const char* text : {"nonsense", "colour=red", "amount=many", "delay=get", "delay=a."}) {
        bool told = false;
        try {
            steelyard::agent_options_from(text);
        } catch (const steelyard::Fatal&) {
            told = true;
        }
        CHECK(told);
    }
}
