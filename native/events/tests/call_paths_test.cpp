#include "call_paths.hpp"

#include <string>

#include "tests.hpp"

using steelyard::CallPaths;

TEST("paths that are alike count together, by their kind") {
    CallPaths paths;
    const auto file = paths.file_number("/bin/p");
    CHECK(paths.file_number("/bin/p") == file);
    for (int time = 0; time < 3; ++time)
        paths.add(0, {{file, 16}, {file, 32}}, true);
    paths.add(1, {{file, 16}, {file, 32}}, true);
    paths.add(0, {}, false);
    CHECK(paths.json(4) ==
          "{\"files\":[\"/bin/p\"],\"paths\":[[0,1,[]],[0,3,[0,16,0,32]],[1,1,[0,16,0,32]]],"
          "\"events\":5,\"cut\":1,\"lost\":4}\n");
}

TEST("names of files may hold any character") {
    CallPaths paths;
    paths.file_number("/a\"b\\c\n");
    CHECK(paths.json(0).find(R"("/a\"b\\c\u000a")") != std::string::npos);
}
