#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "copy_tree.hpp"
#include "fatal.hpp"
#include "root.hpp"

namespace steelyard {

namespace {

// Where programs of a system lie, and what they read; nothing else of the host is seen.
constexpr std::array system_folders{"usr",   "bin",   "sbin",   "lib",
                                    "lib32", "lib64", "libx32", "etc",
                                    "opt",   "nix",   "gnu",    "var/lib/alternatives"};
constexpr std::array device_files{"null", "zero", "full", "random", "urandom"};
// linux/mount.h: names of the kernel's that old C libraries lack.
constexpr unsigned at_recursive = 0x8000;
constexpr std::uint64_t attr_rdonly = 0x1;
constexpr std::uint64_t attr_nosuid = 0x2;
constexpr std::uint64_t attr_nodev = 0x4;
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

struct MountAttributes {
    std::uint64_t set;
    std::uint64_t clear;
    std::uint64_t propagation;
    std::uint64_t user_namespace;
};

void attach(const std::string& from, const std::string& to, std::uint64_t attributes) {
    mount_or_throw(from.c_str(), to, nullptr, MS_BIND | MS_REC, nullptr, from);
    MountAttributes set{attributes, 0, 0, 0};
    if (syscall(SYS_mount_setattr, AT_FDCWD, to.c_str(), at_recursive, &set, sizeof set) != 0)
        throw Fatal::with_errno("'" + from + "' cannot be made safe for a container");
}

void make_parents(const std::string& root, const std::string& path) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1))
        make_folder(root + path.substr(0, slash));
}

void make_file(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        throw Fatal::with_errno("'" + path + "' cannot be made");
    close(file);
}

void attach_at_place(const std::string& from, const std::string& root, const std::string& place,
                     std::uint64_t attributes) {
    struct stat about{};
    if (stat(from.c_str(), &about) != 0)
        throw Fatal::with_errno("'" + from + "', which a container is to see, cannot be seen");
    make_parents(root, place);
    S_ISDIR(about.st_mode) ? make_folder(root + place) : make_file(root + place);
    attach(from, root + place, attributes);
}

/// A folder whose system a container gets, opened while it can still be seen.
class Image {
  public:
    explicit Image(const std::string& path)
        : path_(path), folder_(open((path + "/").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
        if (folder_ < 0)
            throw unseen(path_);
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { close(folder_); }

    /// Where a file of it is, whatever was mounted over its folder since.
    std::string place_of(const std::string& name) const {
        return "/proc/self/fd/" + std::to_string(folder_) + "/" + name;
    }

    Fatal unseen(const std::string& path) const {
        return Fatal::with_errno("'" + path +
                                 "' cannot be seen by the user of the container, who is nobody on "
                                 "this host");
    }

    const std::string& path() const { return path_; }

  private:
    std::string path_;
    int folder_;
};

/// The system's folders, read-only; links at the top, as Debian has `bin`, are links again.
void attach_system(const Image& image, const std::string& root) {
    for (const char* name : system_folders) {
        const std::string from = image.place_of(name);
        struct stat about{};
        if (lstat(from.c_str(), &about) != 0) {
            if (errno == ENOENT)
                continue;
            throw image.unseen(image.path() + "/" + name);
        }
        if (S_ISLNK(about.st_mode)) {
            std::array<char, 256> target{};
            if (readlink(from.c_str(), target.data(), target.size() - 1) > 0 &&
                symlink(target.data(), (root + "/" + name).c_str()) != 0)
                throw Fatal::with_errno("A link of the root cannot be made");
        } else {
            attach_at_place(from, root, std::string("/") + name,
                            attr_rdonly | attr_nosuid | attr_nodev);
        }
    }
}

void make_devices(const std::string& root) {
    make_folder(root + "/dev");
    for (const char* name : device_files) {
        const std::string place = root + "/dev/" + name;
        make_file(place);
        mount_or_throw((std::string("/dev/") + name).c_str(), place, nullptr, MS_BIND, nullptr,
                       place);
    }
    make_folder(root + "/dev/shm", 01777);
    make_folder(root + "/dev/pts");
    // Terminals are for programs that ask for one; a kernel without leave for them goes without.
    if (mount("devpts", (root + "/dev/pts").c_str(), "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620") == 0 &&
        symlink("pts/ptmx", (root + "/dev/ptmx").c_str()) != 0)
        throw Fatal::with_errno("/dev/ptmx cannot be made");
    constexpr std::array<std::array<const char*, 2>, 4> links{
        {{"/proc/self/fd", "fd"}, {"fd/0", "stdin"}, {"fd/1", "stdout"}, {"fd/2", "stderr"}}};
    for (const auto& [target, name] : links) {
        if (symlink(target, (root + "/dev/" + name).c_str()) != 0)
            throw Fatal::with_errno("A link of /dev cannot be made");
    }
}

/// Programs that talk to themselves over the network find it there.
void raise_loopback() {
    const int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (made < 0)
        return;
    ifreq request{};
    std::memcpy(request.ifr_name, "lo", 3);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    ioctl(made, SIOCSIFFLAGS, &request);
    close(made);
}

void write_setting(const std::string& path, const std::string& value) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    [[maybe_unused]] const ssize_t done = write(file, value.data(), value.size());
    close(file);
}

std::string tmpfs_options(const Options& options) {
    std::string text = "mode=0755";
    if (options.disk_bytes != 0)
        text += ",size=" + std::to_string(options.disk_bytes);
    if (options.inodes != 0)
        text += ",nr_inodes=" + std::to_string(options.inodes);
    return text;
}

void populate(const Source& source, int root) {
    if (source.folder < 0 || root < 0)
        return;
    if (source.is_layer) {
        std::vector<std::string> left_out(system_folders.begin(), system_folders.end());
        left_out.insert(left_out.end(), {"dev", "proc", "sys"});
        copy_tree(source.folder, root, left_out);
    } else {
        const int package = openat(root, "package", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        copy_tree(source.folder, package);
        close(package);
    }
}

}  // namespace

int make_contained_root(const Options& options, const Source& source) {
    // A folder that every system has; what lies there is not of this process any more.
    const std::string root = "/tmp";
    mount_or_throw(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr, "the container's mounts");
    for (const std::string& path : options.readable) {
        if (path.starts_with("/tmp/"))
            throw Fatal("'" + path + "' lies in /tmp, of which a container sees nothing.");
    }
    const Image image(options.image);
    mount_or_throw("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, tmpfs_options(options).c_str(),
                   "the container's files");
    const int files = open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    attach_system(image, root);
    make_devices(root);
    for (const char* name :
         {"/package", "/home", "/home/benchmark", "/run", "/var", "/sys", "/sys/devices",
          "/sys/devices/system", "/sys/devices/system/cpu", "/proc"})
        make_folder(root + name);
    for (const char* name : {"/tmp", "/var/tmp"})
        make_folder(root + name, 01777);
    attach("/sys/devices/system/cpu", root + "/sys/devices/system/cpu",
           attr_rdonly | attr_nosuid | attr_nodev);
    mount_or_throw("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr,
                   "the container's /proc");
    for (const std::string& path : options.readable)
        attach_at_place(path, root, path, attr_rdonly | attr_nosuid | attr_nodev);
    for (const std::string& path : options.writable)
        attach_at_place(path, root, path, attr_nosuid | attr_nodev);
    populate(source, files);
    change_root(root);
    if (!options.network)
        raise_loopback();
    // Inside, no namespaces can be made, so that nobody has privileges there again; and memory
    // that is shared by System V's calls is bounded as files are.
    write_setting("/proc/sys/user/max_user_namespaces", "0");
    if (options.disk_bytes != 0)
        write_setting("/proc/sys/kernel/shmall", std::to_string(options.disk_bytes / 4096));
    return files;
}

}  // namespace steelyard
