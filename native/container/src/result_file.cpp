#include "result_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::size_t longest_shown = 80;

/// A name as it is shown: control characters as '?', no longer than a line takes.
std::string shown(std::string_view name) {
    std::string text = "'";
    for (const char letter : name.substr(0, longest_shown))
        text += static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f ? '?' : letter;
    return text + (name.size() > longest_shown ? "...'" : "'");
}

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
    throw Fatal("collect.sh printed " + shown(name) + ", which " + why +
                ". It is to print one line: the name of an archive in the package's folder.");
}

bool leads_up(std::string_view name) {
    while (!name.empty()) {
        const std::size_t slash = std::min(name.find('/'), name.size());
        if (name.substr(0, slash) == "..")
            return true;
        name.remove_prefix(std::min(slash + 1, name.size()));
    }
    return false;
}

std::string_view kind_of(mode_t mode) {
    if (S_ISDIR(mode))
        return "a folder";
    if (S_ISLNK(mode))
        return "a symbolic link";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

}  // namespace

std::string printed_name(std::string_view printed, std::string_view folder) {
    if (printed.ends_with('\n'))
        printed.remove_suffix(1);
    if (printed.ends_with('\r'))
        refuse(printed, "ends in a carriage return, as scripts with DOS line ends print it");
    if (printed.empty())
        throw Fatal(
            "collect.sh printed nothing. It is to print one line: the name of an archive in the "
            "package's folder.");
    if (printed.find('\n') != std::string_view::npos)
        refuse(printed, "is more than one line; other output belongs on standard error");
    if (printed.find('\0') != std::string_view::npos)
        refuse(printed, "has a zero byte");
    std::string_view name = printed;
    if (name.starts_with(folder) && name.substr(folder.size()).starts_with('/')) {
        name.remove_prefix(folder.size());
        name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
    }
    if (name.starts_with('/'))
        refuse(printed, "lies outside of the package's folder");
    if (leads_up(name))
        refuse(printed, "leads out of the package's folder");
    if (name.empty())
        refuse(printed, "is the package's folder itself");
    return std::string(name);
}

std::int64_t copy_result(int folder, const std::string& name, int into, std::int64_t most_bytes) {
    open_how how{};
    how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    struct stat about{};
    // Looked at first, since opening a device may do something.
    const int place = static_cast<int>([&] {
        open_how path = how;
        path.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
        return syscall(SYS_openat2, folder, name.c_str(), &path, sizeof path);
    }());
    if (place < 0 || fstat(place, &about) != 0) {
        const int error = errno;
        if (error == ELOOP)
            refuse(name, "is reached through a symbolic link");
        if (error == EXDEV)
            refuse(name, "leads out of the package's folder");
        if (error == ENOENT || error == ENOTDIR)
            refuse(name, "is not there");
        throw Fatal::with_errno("The archive of results " + shown(name) + " cannot be found");
    }
    close(place);
    if (!S_ISREG(about.st_mode))
        refuse(name, "is " + std::string(kind_of(about.st_mode)) + " and no plain file");
    if (about.st_size > most_bytes) {
        refuse(name, "has " + std::to_string(about.st_size) + " bytes; " +
                         std::to_string(most_bytes) + " are taken");
    }
    const int file = static_cast<int>(syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how));
    if (file < 0)
        throw Fatal::with_errno("The archive of results " + shown(name) + " cannot be read");
    std::int64_t copied = 0;
    ssize_t sent = 0;
    while (copied < about.st_size &&
           (sent = sendfile(into, file, nullptr,
                            static_cast<std::size_t>(about.st_size - copied))) > 0)
        copied += sent;
    const int error = errno;
    close(file);
    errno = error;
    if (sent < 0)
        throw Fatal::with_errno("The archive of results " + shown(name) + " cannot be kept");
    return copied;
}

}  // namespace steelyard
