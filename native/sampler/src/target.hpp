// The program that is profiled, when the sampler starts it itself.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace steelyard {

/// A started program that waits for `release` before it begins.
class Target {
  public:
    /// Starts `command` (ended by a null pointer), looked up in PATH; it waits before execve(2).
    explicit Target(const std::vector<char*>& command);
    ~Target();
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    pid_t process() const { return process_; }
    /// Lets it begin; throws Fatal when it cannot be executed.
    void release();
    /// Sends it a signal.
    void tell(int signal) const;
    /// Whether it has ended; its status as of waitpid(2) then.
    bool ended(int& status);
    /// Processor time that it had taken when it ended, with that of all that it waited for.
    std::uint64_t processor_ns() const { return processor_ns_; }

  private:
    pid_t process_;
    int go_ = -1;
    int failure_ = -1;
    const char* name_;
    std::uint64_t processor_ns_ = 0;
};

}  // namespace steelyard
