// Containers for benchmark packages: `hold` starts one, `build` runs a command in one and saves
// what is there then, `collect` takes the results and ends it, `end` ends it. `rehearse` runs the
// scripts of a package one after the other in one, and shows what they print.

#include <cstdio>
#include <string_view>

#include "fatal.hpp"
#include "holder.hpp"
#include "options.hpp"

namespace steelyard {

namespace {

/// Does `work`, then ends the container whatever came of it.
template <typename Work>
void then_end(const Options& options, Work work) {
    try {
        work();
    } catch (const Fatal&) {
        Options only_end = options;
        only_end.save.clear();
        end(only_end);
        throw;
    }
    end(options);
}

void act(const Options& options) {
    if (options.action == "hold") {
        hold(options, true);
    } else if (options.action == "build") {
        hold(options, false);
        then_end(options, [&] {
            if (!options.command.empty())
                run_inside(options);
            if (!options.save.empty())
                save(options);
        });
    } else if (options.action == "rehearse") {
        hold(options, false);
        then_end(options, [&] { rehearse(options); });
    } else if (options.action == "collect") {
        then_end(options, [&] { collect(options); });
    } else {
        end(options);
    }
}

}  // namespace

}  // namespace steelyard

int main(int count, char** words) {
    try {
        steelyard::act(steelyard::options_from(count, words));
    } catch (const steelyard::Fatal& fatal) {
        // The report of a collection has it; the last words on standard error are the program's.
        if (words[1] != std::string_view("collect"))
            std::fprintf(stderr, "steelyard-container: %s\n", fatal.message.c_str());
        return 1;
    }
    return 0;
}
