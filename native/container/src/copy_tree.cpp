#include "copy_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr int deepest = 200;  // Each folder on the way holds descriptors open.
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

/// Whether something is mounted there. The device does not tell: files of an overlay, such as the
/// root of most containers, have other devices than its folders.
bool is_mount(int from, const std::string& name) {
    struct statx about{};
    return statx(from, name.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &about) == 0 &&
           (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// A descriptor that is closed at the end of its block.
class Open {
  public:
    explicit Open(int descriptor) : descriptor_(descriptor) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() {
        if (descriptor_ >= 0)
            close(descriptor_);
    }
    int get() const { return descriptor_; }

  private:
    int descriptor_;
};

class Copying {
  public:
    void folder(int from, int into, const std::string& shown,
                const std::vector<std::string>& left_out) {
        if (++depth_ > deepest)
            throw Fatal("'" + shown + "' lies too deep to be copied.");
        // A descriptor of its own, since the listing takes it.
        const int own = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const std::unique_ptr<DIR, int (*)(DIR*)> listing(own < 0 ? nullptr : fdopendir(own),
                                                          closedir);
        if (!listing)
            throw Fatal::with_errno("'" + shown + "' cannot be listed");
        while (const dirent* entry = readdir(listing.get())) {
            const std::string name = entry->d_name;
            if (name != "." && name != ".." && std::ranges::find(left_out, name) == left_out.end())
                member(from, into, name, std::string(shown).append("/").append(name));
        }
        --depth_;
    }

  private:
    void member(int from, int into, const std::string& name, const std::string& shown) {
        struct stat about{};
        if (fstatat(from, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0)
            throw Fatal::with_errno("'" + shown + "' cannot be looked at");
        if (is_mount(from, name))
            return;
        if (S_ISDIR(about.st_mode)) {
            enter(from, into, name, shown, about);
        } else if (S_ISLNK(about.st_mode)) {
            link(from, into, name, shown);
        } else if (S_ISREG(about.st_mode)) {
            file(from, into, name, shown, about);
        }
    }

    void enter(int from, int into, const std::string& name, const std::string& shown,
               const struct stat& about) {
        if (mkdirat(into, name.c_str(), 0700) != 0 && errno != EEXIST)
            throw Fatal::with_errno("'" + shown + "' cannot be made");
        const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        const Open source(openat(from, name.c_str(), flags));
        const Open target(openat(into, name.c_str(), flags));
        if (source.get() < 0 || target.get() < 0)
            throw Fatal::with_errno("'" + shown + "' cannot be opened");
        folder(source.get(), target.get(), shown, {});
        finish(target.get(), about);
    }

    void link(int from, int into, const std::string& name, const std::string& shown) {
        std::array<char, 4096> text{};
        const ssize_t length = readlinkat(from, name.c_str(), text.data(), text.size() - 1);
        if (length < 0 || symlinkat(text.data(), into, name.c_str()) != 0)
            throw Fatal::with_errno("The link '" + shown + "' cannot be copied");
    }

    void file(int from, int into, const std::string& name, const std::string& shown,
              const struct stat& about) {
        const Open source(
            openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        const Open target(
            openat(into, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (source.get() < 0 || target.get() < 0)
            throw Fatal::with_errno("'" + shown + "' cannot be copied");
        off_t left = about.st_size;
        while (left > 0) {
            const ssize_t sent =
                sendfile(target.get(), source.get(), nullptr,
                         std::min<std::size_t>(block_bytes, static_cast<std::size_t>(left)));
            if (sent < 0)
                throw Fatal::with_errno("'" + shown + "' cannot be copied");
            if (sent == 0)
                break;
            left -= sent;
        }
        finish(target.get(), about);
    }

    static void finish(int target, const struct stat& about) {
        // Without set-id bits. Who is not root may always do this to a file of their own.
        if (fchmod(target, about.st_mode & 01777) != 0)
            throw Fatal::with_errno("Permissions cannot be set");
        const timespec times[2] = {about.st_atim, about.st_mtim};
        futimens(target, times);
    }

    int depth_ = 0;
};

}  // namespace

void copy_tree(int from, int into, const std::vector<std::string>& left_out) {
    Copying().folder(from, into, "", left_out);
}

}  // namespace steelyard
