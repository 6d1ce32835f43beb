#include "init.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "command_runner.hpp"
#include "control.hpp"
#include "copy_tree.hpp"
#include "fatal.hpp"
#include "proc_table.hpp"
#include "result_file.hpp"

namespace steelyard {

namespace {

constexpr int look_ms = 50;
constexpr std::int64_t most_log_bytes = 16 << 20;

/// What is asked of the first process: its own words and files.
class Serving {
  public:
    Serving(const Options& options, const Place& place, int files)
        : options_(options), place_(place), files_(files) {}

    std::vector<std::string> answer(const Message& message) {
        const std::string& what = message.words[0];
        if (what == "run")
            return run_command(message);
        if (what == "save")
            return save(message);
        if (what == "settle") {
            const int left = end_others();
            return {"ok", std::to_string(left), full()};
        }
        if (what == "collect")
            return collect(message);
        throw Fatal("A container does not know '" + what + "'.");
    }

  private:
    /// The words of a message after the first two: a command, an empty word, an environment.
    Errand errand(const Message& message, std::int64_t time_ms) const {
        Errand errand;
        errand.time_ms = time_ms;
        errand.output_bytes = options_.output_bytes == 0 ? most_log_bytes : options_.output_bytes;
        std::size_t at = 2;
        for (; at < message.words.size() && !message.words[at].empty(); ++at)
            errand.command.push_back(message.words[at]);
        errand.environment.assign(
            message.words.begin() +
                static_cast<std::ptrdiff_t>(at < message.words.size() ? at + 1 : at),
            message.words.end());
        if (errand.command.empty() || message.files.empty())
            throw Fatal("A container was asked to run nothing.");
        errand.log = message.files[0];
        return errand;
    }

    std::vector<std::string> run_command(const Message& message) {
        const Errand asked = errand(message, std::stoll(message.words[1]));
        const Outcome outcome = run(asked, place_);
        const int left = end_others();
        if (!outcome.succeeded())
            throw Fatal("'" + asked.command[0] + "' " + outcome.told(asked) + "." + full());
        return {"ok", std::to_string(left)};
    }

    std::vector<std::string> save(const Message& message) {
        if (message.files.empty())
            throw Fatal("A container was asked to save nowhere.");
        copy_tree(files_, message.files[0], {"dev", "proc", "sys"});
        return {"ok"};
    }

    /// Files: where its log goes, and where the archive of results goes.
    std::vector<std::string> collect(const Message& message) {
        if (message.files.size() < 2)
            throw Fatal("A container was asked to collect nowhere.");
        Errand asked = errand(message, std::stoll(message.words[1]));
        asked.keeps_output = true;
        const Outcome outcome = run(asked, place_);
        end_others();  // Nobody changes the archive while it is copied.
        if (!outcome.succeeded())
            throw Fatal("collect.sh " + outcome.told(asked) + "." + full());
        const std::string name = printed_name(outcome.output, place_.folder);
        const int folder =
            open(place_.folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0)
            throw Fatal("The package's folder " + place_.folder + " is gone.");
        const std::int64_t size =
            copy_result(folder, name, message.files[1], options_.result_bytes);
        close(folder);
        return {"ok", name, std::to_string(size)};
    }

    /// What was used up, in a sentence after a blank; nothing where nothing was.
    std::string full() const {
        struct statvfs about{};
        if (files_ < 0 || fstatvfs(files_, &about) != 0)
            return "";
        if (options_.inodes != 0 && about.f_ffree == 0) {
            return " All " + std::to_string(options_.inodes) +
                   " inodes that the container may have are used.";
        }
        if (options_.disk_bytes != 0 && about.f_bavail == 0) {
            return " All " + std::to_string(options_.disk_bytes) +
                   " bytes of files that the container may have are used.";
        }
        return "";
    }

    const Options& options_;
    const Place& place_;
    int files_;
};

void serve(Serving& serving, int requests) {
    while (true) {
        pollfd request{requests, POLLIN, 0};
        const int ready = poll(&request, 1, look_ms);
        while (waitpid(-1, nullptr, WNOHANG) > 0)
            continue;
        if (ready <= 0)
            continue;
        const int client = accept4(requests, nullptr, nullptr, SOCK_CLOEXEC);
        while (client >= 0) {
            const Message message = receive_message(client);
            if (message.words.empty())
                break;
            if (message.words[0] == "end")
                return;
            Message reply;
            try {
                reply.words = serving.answer(message);
            } catch (const Fatal& fatal) {
                reply.words = {"error", fatal.message};
            }
            for (const int file : message.files)
                close(file);
            send_message(client, reply);
        }
        close(client);
    }
}

}  // namespace

void be_init(const Options& options, const Source& source, const Place& place, int requests,
             int ready) {
    try {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_DUMPABLE, 0);  // Nothing that runs beside it may look into it.
        std::signal(SIGPIPE, SIG_IGN);
        umask(0022);
        int files = -1;
        if (options.kind == Kind::contained) {
            files = make_contained_root(options, source);
        } else {
            make_trusted_root(options, source);
            files = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        if (sethostname("steelyard", 9) != 0)
            throw Fatal::with_errno("The container cannot have a name");
        if (write(ready, "ok", 2) != 2)
            _exit(1);
        close(ready);
        Serving serving(options, place, files);
        serve(serving, requests);
    } catch (const Fatal& fatal) {
        [[maybe_unused]] const ssize_t told =
            write(ready, fatal.message.data(), fatal.message.size());
        _exit(1);
    } catch (const std::exception&) {
        _exit(1);
    }
    _exit(0);
}

}  // namespace steelyard
