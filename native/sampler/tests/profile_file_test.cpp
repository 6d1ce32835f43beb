#include "profile_file.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

#include "fatal.hpp"
#include "temporary_folder.hpp"
#include "tests.hpp"

namespace {

/// A file of a test's own, not there yet.
struct Recorded {
    TemporaryFolder folder;
    std::string path = folder.at("profile");

    std::string content() const { return folder.content("profile"); }
};

}  // namespace

// The check value of CRC-32 for "123456789", in every catalogue of CRCs.
TEST("the checksum is the one that zlib makes") {
    CHECK(steelyard::crc32("123456789", 9) == 0xcbf43926U);
}

TEST("what was flushed is in the file, whole, while the rest is still to come") {
    const Recorded recorded;
    const std::string& path = recorded.path;
    {
        steelyard::ProfileFile file(path, "{}");
        file.write_lost(1, 2);
        file.flush();
        file.write_lost(3, 4);
        const std::string content = recorded.content();
        const std::string head = "STEELYARD-PROFILE 1\n{}\n";
        CHECK(content.substr(0, head.size()) == head);
        CHECK(content.size() == head.size() + 12 + 17);
        CHECK(content.substr(head.size(), 4) == "EVNT");
        CHECK(content[head.size() + 12] == 'L');
    }
}

TEST("words of frames follow their samples, and take no room where there are none") {
    const Recorded recorded;
    const std::string& path = recorded.path;
    {
        steelyard::ProfileFile file(path, "{}");
        steelyard::Sample sample;
        file.write(sample);
        file.flush();
        const std::string plain = recorded.content();
        CHECK(plain.find("WORD") == std::string::npos);
        sample.frame_word = 0x4142434445464748U;
        file.write(sample);
        file.flush();
        const std::string content = recorded.content().substr(plain.size());
        const auto at = content.find("WORD");
        CHECK(at != std::string::npos);
        CHECK(content.substr(at + 12) == "HGFEDCBA");
    }
}

TEST("what a file had stays until a recording begins") {
    const Recorded recorded;
    const std::string& path = recorded.path;
    std::ofstream(path) << "an older profile, longer than what comes";
    {
        const steelyard::ProfileFile never_begun(path, "{}");
    }
    CHECK(recorded.content() == "an older profile, longer than what comes");
    {
        steelyard::ProfileFile file(path, "{}");
        file.begin();
        CHECK(recorded.content() == "STEELYARD-PROFILE 1\n{}\n");
    }
}

TEST("a file that was made for a recording that never began is gone") {
    const Recorded recorded;
    const std::string& path = recorded.path;
    {
        const steelyard::ProfileFile file(path, "{}");
        CHECK(access(path.c_str(), F_OK) == 0);
    }
    CHECK(access(path.c_str(), F_OK) != 0);
}

TEST("two recordings do not write one file") {
    const Recorded recorded;
    const std::string& path = recorded.path;
    bool refused = false;
    {
        steelyard::ProfileFile first(path, "{}");
        first.begin();
        try {
            steelyard::ProfileFile second(path, "{}");
        } catch (const steelyard::Fatal& fatal) {
            refused = fatal.message.find("another recording") != std::string::npos;
        }
        CHECK(recorded.content() == "STEELYARD-PROFILE 1\n{}\n");
    }
    CHECK(refused);
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

TEST("what was mapped is in the file before the samples that it names") {
    const Recorded recorded;
    steelyard::ProfileFile file(recorded.path, "{}");
    file.write(steelyard::Mapping{1, 2, 3, 4, 5, "mapped", 0, {}});
    constexpr int most_samples = 1'000'000;
    int written = 0;
    while (recorded.content().find("SMPL") == std::string::npos && written < most_samples) {
        for (int more = 0; more < 1'000; ++more, ++written)
            file.write(steelyard::Sample{});
    }
    const std::string content = recorded.content();
    CHECK(content.find("SMPL") != std::string::npos);
    CHECK(content.find("mapped") < content.find("SMPL"));
}

TEST("which file was mapped follows its mapping, where it is known") {
    const Recorded recorded;
    {
        steelyard::ProfileFile file(recorded.path, "{}");
        file.write(steelyard::Mapping{1, 2, 3, 4, 5, "p", 0, {}});
        file.flush();
        const std::string plain = recorded.content();
        CHECK(plain.ends_with(std::string("\x01\0p", 3)));
        file.write(steelyard::Mapping{1, 2, 3, 4, 5, "p", 0x4142434445464748U, "\xab\xcd"});
        file.flush();
        CHECK(recorded.content().ends_with(std::string("\x01\0pIHGFEDCBA\x02\0\xab\xcd", 16)));
    }
}
