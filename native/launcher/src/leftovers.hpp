// Finds and ends the processes that a trial left running, so that they do not disturb the next
// trial.

#pragma once

#include <sys/types.h>

#include <vector>

namespace steelyard {

/// Processes that a command left running when it ended. The launcher adopts them (it is a
/// subreaper), so that none can run on into the next trial.
class Leftovers {
  public:
    /// Makes the launcher adopt orphans.
    Leftovers();

    /// Lets what is running now live on until `end_all`: servers that `prepare` started.
    void keep_running();

    /// Ends and reaps all but those kept, and tells how many there were.
    int end_new();

    /// Ends and reaps every one.
    int end_all();

    /// Ends all at once, without asking first.
    void kill_all();

  private:
    int end(bool ask_first);
    bool is_kept(pid_t process) const;

    std::vector<pid_t> kept_;
};

/// The living children of the calling process.
std::vector<pid_t> living_children();

}  // namespace steelyard
