#include "protocol.hpp"

#include <unistd.h>

#include "fatal.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

/// A reader of what is written into a pipe; the writing end is closed with it.
struct Channel {
    int ends[2] = {-1, -1};

    Channel() { CHECK(pipe(ends) == 0); }
    ~Channel() {
        close(ends[0]);
        close(ends[1]);
    }
    void send(std::string_view bytes) const {
        CHECK(write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
};

bool is_refused(std::string_view bytes) {
    const Channel channel;
    channel.send(bytes);
    MessageReader reader(channel.ends[0]);
    Fields fields;
    try {
        reader.next(fields);
    } catch (const Fatal&) {
        return true;
    }
    return false;
}

}  // namespace

TEST("a message is split into its fields, whatever bytes they hold") {
    const Channel channel;
    channel.send(std::string_view("16:3:run,0:,4:\0,:\n,,", 20));
    MessageReader reader(channel.ends[0]);
    Fields fields;
    CHECK(reader.next(fields) == MessageReader::Result::message);
    CHECK(fields.size() == 3);
    CHECK(fields[0] == "run" && fields[1].empty());
    CHECK(fields[2] == std::string_view("\0,:\n", 4));
}

TEST("messages that come in pieces or together are told apart") {
    const Channel channel;
    MessageReader reader(channel.ends[0]);
    Fields fields;
    channel.send("4:1:a,,4:1:b,,4:1");
    CHECK(reader.next(fields) == MessageReader::Result::message && fields[0] == "a");
    CHECK(reader.has_message());
    CHECK(reader.next(fields) == MessageReader::Result::message && fields[0] == "b");
    CHECK(!reader.has_message());
    channel.send(":c,,");
    CHECK(reader.next(fields) == MessageReader::Result::message && fields[0] == "c");
}

TEST("the end of the pipe is the end of messages") {
    int ends[2];
    CHECK(pipe(ends) == 0);
    close(ends[1]);
    MessageReader reader(ends[0]);
    Fields fields;
    CHECK(reader.next(fields) == MessageReader::Result::end);
    close(ends[0]);
}

TEST("what is no message is refused") {
    CHECK(is_refused("hello, this is nobody's protocol"));
    CHECK(is_refused("4:1:a,!"));
    CHECK(is_refused("0:,"));
    CHECK(is_refused("4:9:a,,"));
    CHECK(is_refused("99999999999999999999999:"));
}

TEST("a number must take up its whole field") {
    CHECK(integer("-42") == -42);
    bool refused = false;
    try {
        integer("7 ");
    } catch (const Fatal&) {
        refused = true;
    }
    CHECK(refused);
}
