#include "copy_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fatal.hpp"
#include "temporary_folder.hpp"
#include "tests.hpp"

using namespace steelyard;
namespace fs = std::filesystem;

namespace {

int opened(const std::string& path) {
    return open(path.c_str(), O_RDONLY | O_DIRECTORY);
}

struct Folders {
    TemporaryFolder own;
    std::string from = own.at("from");
    std::string into = own.at("into");

    Folders() {
        fs::create_directory(from);
        fs::create_directory(into);
    }

    void copy(const std::vector<std::string>& left_out = {}) const {
        const int source = opened(from);
        const int target = opened(into);
        copy_tree(source, target, left_out);
        close(source);
        close(target);
    }
};

}  // namespace

TEST("files, folders and links are copied with their permissions and times, and nothing else") {
    const Folders found;
    fs::create_directories(found.from + "/a/b");
    std::ofstream(found.from + "/a/b/file") << std::string(3'000'000, 'x');
    std::ofstream(found.from + "/run.sh") << "#!/bin/sh\n";
    CHECK(chmod((found.from + "/run.sh").c_str(), 04755) == 0);
    CHECK(symlink("/etc/passwd", (found.from + "/link").c_str()) == 0);
    CHECK(mkfifo((found.from + "/pipe").c_str(), 0600) == 0);
    const timespec times[2] = {{1, 0}, {946684800, 5}};
    CHECK(utimensat(AT_FDCWD, (found.from + "/run.sh").c_str(), times, 0) == 0);
    found.copy();
    CHECK(fs::file_size(found.into + "/a/b/file") == 3'000'000);
    CHECK(fs::read_symlink(found.into + "/link") == "/etc/passwd");
    CHECK(!fs::exists(found.into + "/pipe"));
    struct stat about{};
    CHECK(stat((found.into + "/run.sh").c_str(), &about) == 0);
    CHECK((about.st_mode & 07777) == 0755);
    CHECK(about.st_mtim.tv_sec == 946684800);
}

TEST("names that are left out at the top are copied further down") {
    const Folders found;
    fs::create_directories(found.from + "/dev");
    fs::create_directories(found.from + "/a/dev");
    found.copy({"dev"});
    CHECK(!fs::exists(found.into + "/dev"));
    CHECK(fs::exists(found.into + "/a/dev"));
}

TEST("a folder that is there is filled, and a file that is there is not overwritten") {
    const Folders found;
    fs::create_directories(found.from + "/a");
    std::ofstream(found.from + "/a/new") << "new";
    fs::create_directories(found.into + "/a");
    found.copy();
    CHECK(fs::exists(found.into + "/a/new"));
    bool refused = false;
    try {
        found.copy();
    } catch (const Fatal& fatal) {
        refused = fatal.message.find("/a/new") != std::string::npos;
    }
    CHECK(refused);
}

TEST("nothing is written through a link that lies in the place of a folder") {
    const Folders found;
    fs::create_directories(found.from + "/a");
    std::ofstream(found.from + "/a/new") << "new";
    fs::create_directories(found.own.at("outside"));
    CHECK(symlink(found.own.at("outside").c_str(), (found.into + "/a").c_str()) == 0);
    bool refused = false;
    try {
        found.copy();
    } catch (const Fatal&) {
        refused = true;
    }
    CHECK(refused);
    CHECK(fs::is_empty(found.own.at("outside")));
}
