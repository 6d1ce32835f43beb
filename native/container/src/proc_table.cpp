#include "proc_table.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

namespace steelyard {

namespace {

constexpr int most_looks = 5000;

bool is_living(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string::npos && name_end + 2 < line.size() &&
           line[name_end + 2] != 'Z' && line[name_end + 2] != 'X';
}

}  // namespace

int living_others() {
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir("/proc"), closedir);
    int count = 0;
    while (const dirent* entry = listing ? readdir(listing.get()) : nullptr) {
        const int process = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
        count += process > 1 && process != getpid() && is_living(process);
    }
    return count;
}

int end_others() {
    const int count = living_others();
    const timespec pause{0, 1'000'000};
    for (int look = 0; look < most_looks; ++look) {
        const bool any = kill(-1, SIGKILL) == 0 || errno != ESRCH;
        while (waitpid(-1, nullptr, WNOHANG) > 0)
            continue;
        if (!any)
            break;
        nanosleep(&pause, nullptr);
    }
    return count;
}

}  // namespace steelyard
