#include "result_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "fatal.hpp"
#include "temporary_folder.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

template <typename Body>
std::string refusal(Body body) {
    try {
        body();
    } catch (const Fatal& fatal) {
        return fatal.message;
    }
    return "";
}

std::string refused_name(const std::string& printed) {
    return refusal([&] { printed_name(printed, "/package"); });
}

bool says(const std::string& message, const std::string& wanted) {
    return message.find(wanted) != std::string::npos;
}

/// A folder with one archive, and what may be taken for one.
struct Folder {
    TemporaryFolder own;
    int folder = -1;
    int into = -1;

    Folder() {
        std::ofstream(own.at("r.tar")) << "results";
        mkdir(own.at("d").c_str(), 0755);
        std::ofstream(own.at("d/r.tar")) << "deep";
        folder = open(own.path().c_str(), O_RDONLY | O_DIRECTORY);
        into = open(own.at("copy").c_str(), O_RDWR | O_CREAT, 0600);
    }
    ~Folder() {
        close(folder);
        close(into);
    }

    std::string refused(const std::string& name, std::int64_t most_bytes = 100) const {
        return refusal([&] { copy_result(folder, name, into, most_bytes); });
    }
};

}  // namespace

TEST("the one line that a collect script prints is the name") {
    CHECK(printed_name("r.tar.gz\n", "/package") == "r.tar.gz");
    CHECK(printed_name("r.tar.gz", "/package") == "r.tar.gz");
    CHECK(printed_name("./out/r.tar\n", "/package") == "./out/r.tar");
    CHECK(printed_name("/package/r.tar\n", "/package") == "r.tar");
    CHECK(printed_name("/package//r.tar\n", "/package") == "r.tar");
    CHECK(printed_name("Ergebnisse \xc3\xa4.tar\n", "/package") == "Ergebnisse \xc3\xa4.tar");
    CHECK(printed_name("a..b/..c\n", "/package") == "a..b/..c");
}

TEST("a name that leads elsewhere is refused, and shown without control characters") {
    CHECK(says(refused_name(""), "printed nothing"));
    CHECK(says(refused_name("\n"), "printed nothing"));
    CHECK(says(refused_name("a\nb\n"), "more than one line"));
    CHECK(says(refused_name("a\r\n"), "carriage return"));
    CHECK(says(refused_name(std::string("a\0b\n", 4)), "zero byte"));
    CHECK(says(refused_name("/etc/shadow\n"), "'/etc/shadow', which lies outside"));
    CHECK(says(refused_name("/packages/r\n"), "lies outside"));
    CHECK(says(refused_name("../../etc/shadow\n"), "leads out"));
    CHECK(says(refused_name("a/../../b\n"), "leads out"));
    CHECK(says(refused_name("/package/../etc/shadow\n"), "leads out"));
    CHECK(says(refused_name("/package\n"), "lies outside"));
    CHECK(says(refused_name("/package/\n"), "itself"));
    CHECK(says(refused_name("\x1b[2J/../x\n"), "?[2J"));
}

TEST("a plain file is copied") {
    const Folder found;
    CHECK(copy_result(found.folder, "d/../d/r.tar", found.into, 4) == 4);
    CHECK(found.own.content("copy") == "deep");
}

TEST("what is no plain file, or too large, is refused by its name") {
    const Folder found;
    const std::string link = found.own.at("l");
    CHECK(symlink("r.tar", link.c_str()) == 0);
    CHECK(symlink("d", found.own.at("e").c_str()) == 0);
    CHECK(mkfifo(found.own.at("p").c_str(), 0600) == 0);
    CHECK(says(found.refused("none"), "'none', which is not there"));
    CHECK(says(found.refused("r.tar/x"), "is not there"));
    CHECK(says(found.refused("d"), "is a folder"));
    CHECK(says(found.refused("l"), "symbolic link"));
    CHECK(says(found.refused("e/r.tar"), "symbolic link"));
    CHECK(says(found.refused("p"), "is a FIFO"));
    CHECK(says(found.refused("../copy"), "leads out"));
    CHECK(says(found.refused("r.tar", 6), "has 7 bytes; 6 are taken"));
}
