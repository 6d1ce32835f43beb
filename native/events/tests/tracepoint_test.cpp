#include "tracepoint.hpp"

#include <linux/perf_event.h>

#include "tests.hpp"

using steelyard::Taken;
using steelyard::tracepoint_attributes;

TEST("with registers the kernel is asked for nothing of the stack") {
    for (const bool is_probe : {false, true}) {
        const auto attributes = tracepoint_attributes({31, {}, is_probe}, Taken::registers);
        CHECK((attributes.sample_type & PERF_SAMPLE_STACK_USER) == 0);
        CHECK((attributes.sample_type & PERF_SAMPLE_CALLCHAIN) == 0);
        CHECK(attributes.sample_stack_user == 0);
        CHECK((attributes.sample_type & PERF_SAMPLE_REGS_USER) != 0);
        CHECK(attributes.sample_regs_user != 0);
        CHECK(attributes.config == 31 && attributes.sample_period == 1);
    }
}

#if defined(__x86_64__)
TEST("with stacks it is asked for a copy") {
    const auto attributes = tracepoint_attributes({31, {}, false}, Taken::stacks);
    CHECK((attributes.sample_type & PERF_SAMPLE_STACK_USER) != 0);
    CHECK(attributes.sample_stack_user == 16U << 10U);
}
#endif
