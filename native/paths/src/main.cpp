// The planner: how a program is made to record its call paths.
//
//   steelyard-path-planner PROGRAM PLAN
//
// Writes the plan that libsteelyard-paths.so follows within the program.

#include <cstdio>
#include <fstream>

#include "fatal.hpp"
#include "planner.hpp"

int main(int count, char** words) {
    try {
        if (count != 3)
            throw steelyard::Fatal("Give a program and the file of its plan.");
        const steelyard::Plan plan = steelyard::plan_of(words[1]);
        std::ofstream out(words[2], std::ios::binary | std::ios::trunc);
        const auto write = [&out](const void* data, std::size_t bytes) {
            out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
        };
        write(&plan.header, sizeof plan.header);
        write(plan.functions.data(), plan.functions.size() * sizeof plan.functions[0]);
        write(plan.call_sites.data(), plan.call_sites.size() * sizeof plan.call_sites[0]);
        out.close();
        if (!out)
            throw steelyard::Fatal(std::string("The plan ") + words[2] + " cannot be written.");
        return 0;
    } catch (const steelyard::Fatal& fatal) {
        std::fprintf(stderr, "%s\n", fatal.message.c_str());
        return 1;
    }
}
