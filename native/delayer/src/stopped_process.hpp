// A process that its tracer has stopped before its first instruction.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace steelyard {

class StoppedProcess {
  public:
    /// Throws Fatal where the memory of `process` cannot be opened.
    explicit StoppedProcess(pid_t process);
    StoppedProcess(const StoppedProcess&) = delete;
    StoppedProcess& operator=(const StoppedProcess&) = delete;
    ~StoppedProcess();

    /// Where the byte at `offset` of the file `object` is in its memory; nothing where it is not.
    [[nodiscard]] std::optional<std::uint64_t> address_of(const std::string& object,
                                                          std::uint64_t offset) const;

    /// Fills `bytes` from its memory; false where there are not so many.
    [[nodiscard]] bool read(std::uint64_t address, std::span<std::uint8_t> bytes) const;

    /// Writes to its memory, also where the process itself may not.
    void write(std::uint64_t address, std::span<const std::uint8_t> bytes) const;

    /// Has the process map `bytes` of memory below 2 GiB, where 32 bits reach, and says where.
    [[nodiscard]] std::uint32_t map_low(std::uint32_t bytes) const;

  private:
    pid_t process_;
    int memory_;
};

}  // namespace steelyard
