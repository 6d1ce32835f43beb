#include "control.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::size_t most_files = 4;
constexpr std::size_t most_bytes = 4 << 20;
const std::string gone = "The container has ended before its time";

/// The address of the socket by a short way: the path itself may be longer than an address takes.
sockaddr_un address_in(const std::string& state, int& folder) {
    folder = open(state.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        throw Fatal::with_errno("There is no container in '" + state + "'");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/control";
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

void write_whole(int socket, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            throw Fatal::with_errno(gone);
        data += sent;
        size -= static_cast<std::size_t>(sent);
    }
}

bool read_whole(int socket, char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t got = recv(socket, data, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        data += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

int listen_in(const std::string& state) {
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int folder = -1;
    const sockaddr_un address = address_in(state, folder);
    const bool listens =
        made >= 0 && bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        listen(made, 1) == 0;
    if (!listens)
        throw Fatal::with_errno("A container cannot be reached in '" + state + "'");
    close(folder);
    return made;
}

Connection::Connection(const std::string& state) {
    int folder = -1;
    const sockaddr_un address = address_in(state, folder);
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connects =
        socket_ >= 0 &&
        connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const int error = errno;
    close(folder);
    if (connects)
        return;
    if (socket_ >= 0)
        close(socket_);
    errno = error;
    throw Fatal::with_errno("The container of '" + state + "' cannot be reached");
}

Connection::~Connection() {
    close(socket_);
}

void send_message(int socket, const Message& message) {
    std::string text;
    for (const std::string& word : message.words)
        text.append(word).push_back('\0');
    std::uint32_t size = static_cast<std::uint32_t>(text.size());
    iovec part{&size, sizeof size};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> space{};
    msghdr head{};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    if (!message.files.empty()) {
        head.msg_control = space.data();
        head.msg_controllen = CMSG_SPACE(message.files.size() * sizeof(int));
        cmsghdr* files = CMSG_FIRSTHDR(&head);
        files->cmsg_level = SOL_SOCKET;
        files->cmsg_type = SCM_RIGHTS;
        files->cmsg_len = CMSG_LEN(message.files.size() * sizeof(int));
        std::memcpy(CMSG_DATA(files), message.files.data(), message.files.size() * sizeof(int));
    }
    if (sendmsg(socket, &head, MSG_NOSIGNAL) != sizeof size)
        throw Fatal::with_errno(gone);
    write_whole(socket, text.data(), text.size());
}

Message receive_message(int socket) {
    Message message;
    std::uint32_t size = 0;
    iovec part{&size, sizeof size};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> space{};
    msghdr head{};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = space.data();
    head.msg_controllen = space.size();
    ssize_t got = -1;
    do {
        got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    } while (got < 0 && errno == EINTR);
    for (cmsghdr* one = CMSG_FIRSTHDR(&head); got > 0 && one != nullptr;
         one = CMSG_NXTHDR(&head, one)) {
        const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        message.files.resize(count);
        std::memcpy(message.files.data(), CMSG_DATA(one), count * sizeof(int));
    }
    if (got != sizeof size || size > most_bytes)
        return message;
    std::string text(size, '\0');
    if (!read_whole(socket, text.data(), size))
        return message;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\0', at);
        message.words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return message;
}

std::vector<std::string> ask(int socket, const Message& message) {
    send_message(socket, message);
    const std::vector<std::string> answer = receive_message(socket).words;
    if (answer.empty())
        throw Fatal(gone + "; it was ended from outside, or this machine has no memory left.");
    if (answer[0] == "error")
        throw Fatal(answer.size() > 1 ? answer[1] : "The container gives no reason.");
    return answer;
}

}  // namespace steelyard
