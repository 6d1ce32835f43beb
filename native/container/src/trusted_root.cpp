#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "copy_tree.hpp"
#include "fatal.hpp"
#include "root.hpp"

namespace steelyard {

namespace {

constexpr int most_tries = 64;
const char* const layer_file = "/layer.ext4";

/// A loop device for `file`, which goes when nothing is mounted from it any more.
std::string loop_device(const std::string& file, bool read_only) {
    const int flags = (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC;
    const int backing = open(file.c_str(), flags);
    const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (backing < 0 || control < 0)
        throw Fatal::with_errno("The layer '" + file + "' cannot be attached");
    for (int attempt = 0; attempt < most_tries; ++attempt) {
        const int number = ioctl(control, LOOP_CTL_GET_FREE);
        const std::string path = "/dev/loop" + std::to_string(number);
        if (number >= 0)
            mknod(path.c_str(), S_IFBLK | 0600, makedev(7, static_cast<unsigned>(number)));
        const int device = number < 0 ? -1 : open(path.c_str(), flags);
        if (device < 0)
            break;
        loop_config config{};
        config.fd = static_cast<__u32>(backing);
        config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
        if (read_only)
            config.info.lo_flags |= LO_FLAGS_READ_ONLY;
        if (ioctl(device, LOOP_CONFIGURE, &config) == 0)
            return path;  // Held open until it is mounted; the process ends with its container.
        const int error = errno;
        close(device);
        errno = error;
        if (error != EBUSY)  // Another took it meanwhile.
            break;
    }
    throw Fatal::with_errno("This machine has no loop device for the layer '" + file + "'");
}

void mount_layer(const std::string& file, const std::string& place, bool read_only) {
    make_folder(place);
    const std::string device = loop_device(file, read_only);
    mount_or_throw(device.c_str(), place, "ext4",
                   read_only ? static_cast<unsigned long>(MS_RDONLY) : 0UL, nullptr, file);
}

void copy_package(int from, const std::string& upper) {
    make_folder(upper + "/package");
    const int into = open((upper + "/package").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    copy_tree(from, into);
    close(into);
}

}  // namespace

void mount_or_throw(const char* from, const std::string& to, const char* type, unsigned long flags,
                    const char* data, const std::string& what) {
    if (mount(from, to.c_str(), type, flags, data) != 0)
        throw Fatal::with_errno("Nothing can be mounted for " + what);
}

void make_folder(const std::string& path, unsigned mode) {
    if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
        throw Fatal::with_errno("'" + path + "' cannot be made");
    if (mode != 0755 && chmod(path.c_str(), static_cast<mode_t>(mode)) != 0)
        throw Fatal::with_errno("'" + path + "' cannot be opened to all");
}

void change_root(const std::string& root) {
    if (chdir(root.c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
        umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        throw Fatal::with_errno("The container cannot enter its root");
}

void make_layer_file(const Options& options) {
    const std::string path = options.state + layer_file;
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, options.disk_bytes) != 0)
        throw Fatal::with_errno("The layer '" + path + "' cannot be made");
    close(file);
    const std::string inodes = std::to_string(options.inodes);
    const pid_t child = fork();
    if (child == 0) {
        execlp("mkfs.ext4", "mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", "-N",
               inodes.c_str(), "-E", "lazy_itable_init=1,nodiscard", path.c_str(), nullptr);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0)
        throw Fatal("mkfs.ext4 cannot make the layer '" + path +
                    "'. Install it: apt-get install e2fsprogs");
}

void make_trusted_root(const Options& options, const Source& source) {
    mount_or_throw(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr, "the container's mounts");
    const std::string own = options.state + "/disk";
    mount_layer(options.state + layer_file, own, false);
    for (const char* name : {"/upper", "/work", "/root"})
        make_folder(own + name);
    std::string lower = options.image.empty() ? "/" : options.image;
    if (source.is_layer) {
        const std::string below = options.state + "/below";
        mount_layer(source.layer_path + layer_file, below, true);
        lower = below + "/upper:" + lower;
    } else if (source.folder >= 0) {
        copy_package(source.folder, own + "/upper");
    }
    const std::string root = own + "/root";
    const std::string layers =
        "lowerdir=" + lower + ",upperdir=" + own + "/upper,workdir=" + own + "/work";
    mount_or_throw("overlay", root, "overlay", 0, layers.c_str(), "the container's root");
    for (const char* name : {"/dev", "/sys"}) {
        make_folder(root + name);
        mount_or_throw(name, root + name, nullptr, MS_BIND | MS_REC, nullptr, name);
    }
    make_folder(root + "/proc");
    mount_or_throw("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr,
                   "the container's /proc");
    for (const char* name : {"/tmp", "/run"}) {
        make_folder(root + name, name[1] == 't' ? 01777U : 0755U);
        mount_or_throw("tmpfs", root + name, "tmpfs", MS_NOSUID | MS_NODEV,
                       name[1] == 't' ? "mode=1777" : "mode=0755", name);
    }
    change_root(root);
}

}  // namespace steelyard
