// A container that is being made, by the processes that make it.

#pragma once

#include <sys/types.h>

#include <string>

#include "cgroups.hpp"
#include "init.hpp"
#include "options.hpp"

namespace steelyard {

/// Who the container's user is outside of it.
uid_t outside_user();

/// The two ends of a pipe.
struct Pipe {
    int reader = -1;
    int writer = -1;
    Pipe();  ///< throws Fatal
};

/// The way from options to a container whose first process runs.
class Making {
  public:
    explicit Making(const Options& options) : options_(options) {}

    /// Opens what a container begins from, and its socket.
    void open_source();

    /// The keeper: it outlives all processes of the container and removes what they cannot.
    [[noreturn]] void keep(pid_t owner);

    int ready_reader() const { return ready_.reader; }
    void close_writer() const;

  private:
    void tell(const std::string& text) const;
    void limit();
    pid_t start_entrant();

    /// The process that enters the namespaces and whose child is the first of the container.
    [[noreturn]] void enter(const Pipe& unshared, const Pipe& mapped);

    [[noreturn]] void start_init();

    /// What the launcher reads to start a program in the container.
    void write_entry(pid_t entrant) const;

    /// Makes this process end when `owner` does, whose child it becomes when its parent has ended;
    /// false where the container ends before.
    bool stay_with(pid_t owner, pid_t entrant) const;

    const Options& options_;
    Source source_;
    Place place_;
    Cgroups cgroups_;
    Pipe ready_;
    Pipe go_;
    int requests_ = -1;
};

}  // namespace steelyard
