#include "stopped_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "fatal.hpp"
#include "memory_mapping.hpp"

namespace steelyard {

StoppedProcess::StoppedProcess(pid_t process)
    : process_(process),
      memory_(open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDWR | O_CLOEXEC)) {
    if (memory_ < 0)
        throw Fatal::with_errno("The memory of the program cannot be written");
}

StoppedProcess::~StoppedProcess() {
    close(memory_);
}

std::optional<std::uint64_t> StoppedProcess::address_of(const std::string& object,
                                                        std::uint64_t offset) const {
    struct stat wanted{};
    if (stat(object.c_str(), &wanted) != 0)
        throw Fatal::with_errno("The file " + object + " cannot be read");
    std::ifstream maps("/proc/" + std::to_string(process_) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const auto mapping = mapping_of_line(line);
        if (!mapping || mapping->inode != wanted.st_ino)
            continue;
        const std::uint64_t length = mapping->end - mapping->start;
        if (offset >= mapping->offset && offset - mapping->offset < length)
            return mapping->start + offset - mapping->offset;
    }
    return std::nullopt;
}

bool StoppedProcess::read(std::uint64_t address, std::span<std::uint8_t> bytes) const {
    const ssize_t got = pread(memory_, bytes.data(), bytes.size(), static_cast<off_t>(address));
    return got == static_cast<ssize_t>(bytes.size());
}

void StoppedProcess::write(std::uint64_t address, std::span<const std::uint8_t> bytes) const {
    const ssize_t put = pwrite(memory_, bytes.data(), bytes.size(), static_cast<off_t>(address));
    if (put != static_cast<ssize_t>(bytes.size()))
        throw Fatal::with_errno("The delay cannot be written");
}

std::uint32_t StoppedProcess::map_low(std::uint32_t bytes) const {
    constexpr std::array<std::uint8_t, 2> system_call{0x0f, 0x05};
    user_regs_struct before{};
    if (ptrace(PTRACE_GETREGS, process_, nullptr, &before) != 0)
        throw Fatal::with_errno("The program's registers cannot be read");
    std::array<std::uint8_t, system_call.size()> kept{};
    if (!read(before.rip, kept))
        throw Fatal("The program's first instruction cannot be read.");
    write(before.rip, system_call);
    user_regs_struct call = before;
    call.rax = SYS_mmap;
    call.orig_rax = ~0ULL;  // not the call that the process was stopped in
    call.rdi = 0;
    call.rsi = bytes;
    call.rdx = PROT_READ | PROT_WRITE;
    call.r10 = MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT;
    call.r8 = ~0ULL;
    call.r9 = 0;
    int status = 0;
    if (ptrace(PTRACE_SETREGS, process_, nullptr, &call) != 0 ||
        ptrace(PTRACE_SINGLESTEP, process_, nullptr, nullptr) != 0 ||
        waitpid(process_, &status, 0) < 0 || !WIFSTOPPED(status))
        throw Fatal::with_errno("The program cannot be made to map memory");
    user_regs_struct after{};
    ptrace(PTRACE_GETREGS, process_, nullptr, &after);
    write(before.rip, kept);
    ptrace(PTRACE_SETREGS, process_, nullptr, &before);
    constexpr std::uint64_t low = 1ULL << 31U;
    if (after.rax == 0 || after.rax >= low)
        throw Fatal("The program has no room for " + std::to_string(bytes) +
                    " bytes in its lowest 2 GiB; try a smaller --buffer.");
    return static_cast<std::uint32_t>(after.rax);
}

}  // namespace steelyard
