/// The functions that execute another program: it would be ended by a signal that was meant for the
/// threads of this one, whose handler it does not have. So none is sent meanwhile.
#include <stdarg.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>

#include "mover.hpp"
#include "next_definition.hpp"

#define STEELYARD_EXECUTE \
    extern "C" __attribute__((visibility("default"), section("steelyard_text"), used)) int

namespace steelyard::layout {

namespace {

using Words = char* const*;

/// Lets nothing be moved until another program runs or could not be executed.
class Execution {
  public:
    Execution() : holds_(hold_moves_of_program()) {}
    ~Execution() {
        const int before = errno;
        if (holds_)
            resume_moves();
        errno = before;
    }
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

  private:
    bool holds_;
};

std::size_t count_words(va_list words) {
    std::size_t count = 0;
    while (va_arg(words, const char*) != nullptr)
        ++count;
    return count;
}

}  // namespace

STEELYARD_EXECUTE execve(const char* path, Words arguments, Words environment) {
    static const auto real = next<int (*)(const char*, Words, Words)>("execve");
    const Execution held;
    return real(path, arguments, environment);
}

STEELYARD_EXECUTE execv(const char* path, Words arguments) {
    static const auto real = next<int (*)(const char*, Words)>("execv");
    const Execution held;
    return real(path, arguments);
}

STEELYARD_EXECUTE execvp(const char* file, Words arguments) {
    static const auto real = next<int (*)(const char*, Words)>("execvp");
    const Execution held;
    return real(file, arguments);
}

STEELYARD_EXECUTE execvpe(const char* file, Words arguments, Words environment) {
    static const auto real = next<int (*)(const char*, Words, Words)>("execvpe");
    const Execution held;
    return real(file, arguments, environment);
}

STEELYARD_EXECUTE fexecve(int file, Words arguments, Words environment) {
    static const auto real = next<int (*)(int, Words, Words)>("fexecve");
    const Execution held;
    return real(file, arguments, environment);
}

STEELYARD_EXECUTE execveat(int folder, const char* path, Words arguments, Words environment,
                           int flags) {
    static const auto real = next<int (*)(int, const char*, Words, Words, int)>("execveat");
    const Execution held;
    return real(folder, path, arguments, environment, flags);
}

// Those that take the words one by one; libc's own would not come by the ones above.
#define STEELYARD_LIST(name, then_call)                                                  \
    STEELYARD_EXECUTE name(const char* path, const char* word, ...) {                    \
        va_list words;                                                                   \
        va_start(words, word);                                                           \
        const std::size_t count = word == nullptr ? 0 : 1 + count_words(words);          \
        va_end(words);                                                                   \
        auto** all = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
        all[0] = const_cast<char*>(word);                                                \
        va_start(words, word);                                                           \
        for (std::size_t at = 1; at <= count; ++at)                                      \
            all[at] = va_arg(words, char*);                                              \
        const int result = then_call;                                                    \
        va_end(words);                                                                   \
        return result;                                                                   \
    }

STEELYARD_LIST(execl, execv(path, all))
STEELYARD_LIST(execlp, execvp(path, all))
STEELYARD_LIST(execle, execve(path, all, va_arg(words, char* const*)))

}  // namespace steelyard::layout
