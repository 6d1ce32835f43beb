#include "profile_file.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "fatal.hpp"
#include "tests.hpp"

namespace {

std::string temporary_path() {
    char path[] = "/tmp/steelyard-profile-XXXXXX";
    const int file = mkstemp(path);
    close(file);
    return path;
}

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// The check value of CRC-32 for "123456789", in every catalogue of CRCs.
TEST("the checksum is the one that zlib makes") {
    CHECK(steelyard::crc32("123456789", 9) == 0xcbf43926U);
}

TEST("what was flushed is in the file, whole, while the rest is still to come") {
    const std::string path = temporary_path();
    {
        steelyard::ProfileFile file(path, "{}");
        file.write_lost(1, 2);
        file.flush();
        file.write_lost(3, 4);
        const std::string content = content_of(path);
        const std::string head = "STEELYARD-PROFILE 1\n{}\n";
        CHECK(content.substr(0, head.size()) == head);
        CHECK(content.size() == head.size() + 12 + 17);
        CHECK(content.substr(head.size(), 4) == "EVNT");
        CHECK(content[head.size() + 12] == 'L');
    }
    unlink(path.c_str());
}

TEST("words of frames follow their samples, and take no room where there are none") {
    const std::string path = temporary_path();
    {
        steelyard::ProfileFile file(path, "{}");
        steelyard::Sample sample;
        file.write(sample);
        file.flush();
        const std::string plain = content_of(path);
        CHECK(plain.find("WORD") == std::string::npos);
        sample.frame_word = 0x4142434445464748U;
        file.write(sample);
        file.flush();
        const std::string content = content_of(path).substr(plain.size());
        const auto at = content.find("WORD");
        CHECK(at != std::string::npos);
        CHECK(content.substr(at + 12) == "HGFEDCBA");
    }
    unlink(path.c_str());
}

TEST("what a file had stays until a recording begins") {
    const std::string path = temporary_path();
    std::ofstream(path) << "an older profile, longer than what comes";
    {
        const steelyard::ProfileFile never_begun(path, "{}");
    }
    CHECK(content_of(path) == "an older profile, longer than what comes");
    {
        steelyard::ProfileFile file(path, "{}");
        file.begin();
        CHECK(content_of(path) == "STEELYARD-PROFILE 1\n{}\n");
    }
    unlink(path.c_str());
}

TEST("a file that was made for a recording that never began is gone") {
    const std::string path = temporary_path();
    unlink(path.c_str());
    {
        const steelyard::ProfileFile file(path, "{}");
        CHECK(access(path.c_str(), F_OK) == 0);
    }
    CHECK(access(path.c_str(), F_OK) != 0);
}

TEST("two recordings do not write one file") {
    const std::string path = temporary_path();
    bool refused = false;
    {
        steelyard::ProfileFile first(path, "{}");
        first.begin();
        try {
            steelyard::ProfileFile second(path, "{}");
        } catch (const steelyard::Fatal& fatal) {
            refused = fatal.message.find("another recording") != std::string::npos;
        }
        CHECK(content_of(path) == "STEELYARD-PROFILE 1\n{}\n");
    }
    CHECK(refused);
    unlink(path.c_str());
}

TEST("a file that takes no more is told of by its name") {
    bool told = false;
    try {
        steelyard::ProfileFile file("/dev/full", "{}");
        file.begin();
    } catch (const steelyard::Fatal& fatal) {
        told = fatal.message.find("/dev/full") != std::string::npos;
    }
    CHECK(told);
}
