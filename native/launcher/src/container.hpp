// The way into a container that another program holds (native/container): namespaces, control
// groups, limits and the user inside, as its file `entry` says.

#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace steelyard {

/// What could not be done on the way in, in words that follow 'cannot', with its errno.
struct EntryFailure {
    const char* step = nullptr;
    int error = 0;

    explicit operator bool() const { return step != nullptr; }
};

/// Open on the launcher's side, so that nothing is looked up between the clock and the program.
class ContainerEntry {
  public:
    ContainerEntry() = default;
    ContainerEntry(const ContainerEntry&) = delete;
    ContainerEntry& operator=(const ContainerEntry&) = delete;
    ~ContainerEntry();

    /// Reads the container of the folder `state` and opens what it names.
    EntryFailure open(const std::string& state);

    /// Moves the calling process into control groups and namespaces, with the limits and the user
    /// of the container. A process that it makes then is in the PID namespace too. Allocates
    /// nothing: runs in the memory of the launcher.
    EntryFailure enter() const noexcept;

    /// What the process is made that will be the program: no new privileges, none of our keys, the
    /// folder that it runs in.
    EntryFailure settle() const noexcept;

  private:
    EntryFailure take(const std::string& line);

    std::vector<int> groups_;
    std::vector<int> namespaces_;
    std::vector<std::pair<int, rlimit>> limits_;
    uid_t user_ = 0;
    std::string folder_;
};

}  // namespace steelyard
