// In the place of what would take the signal of samples from a program: it keeps its handler, and
// is never blocked. A program that wants a handler of its own for it is refused, as the C library
// refuses one for its own signals.

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>

#include "mark_notes.hpp"

namespace steelyard {

namespace {

using Mask = int (*)(int, const sigset_t*, sigset_t*);
using Handler = void (*)(int);
using SetHandler = Handler (*)(int, Handler);

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int mask(Mask real, int how, const sigset_t* set, sigset_t* before) {
    if (set == nullptr || how == SIG_UNBLOCK || !takes_samples())
        return real(how, set, before);
    sigset_t without = *set;
    sigdelset(&without, mark_signal);
    return real(how, &without, before);
}

bool is_kept(int signal, bool has_handler) {
    if (signal != mark_signal || !takes_samples())
        return false;
    if (has_handler)
        note_taken_signal();
    errno = EINVAL;
    return true;
}

}  // namespace

}  // namespace steelyard

#define STEELYARD_VISIBLE extern "C" __attribute__((visibility("default")))

STEELYARD_VISIBLE int sigaction(int signal, const struct sigaction* action,
                                struct sigaction* before) {
    using namespace steelyard;
    const bool has_handler =
        action != nullptr && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
    if (action == nullptr || !takes_samples())
        return next_sigaction()(signal, action, before);
    if (is_kept(signal, has_handler))
        return -1;
    struct sigaction without = *action;
    sigdelset(&without.sa_mask, mark_signal);
    return next_sigaction()(signal, &without, before);
}

STEELYARD_VISIBLE steelyard::Handler signal(int signal, steelyard::Handler handler) {
    using namespace steelyard;
    static const auto real = next<SetHandler>("signal");
    if (is_kept(signal, handler != SIG_DFL && handler != SIG_IGN))
        return SIG_ERR;
    return real(signal, handler);
}

STEELYARD_VISIBLE int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
    static const auto real = steelyard::next<steelyard::Mask>("sigprocmask");
    return steelyard::mask(real, how, set, before);
}

STEELYARD_VISIBLE int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
    static const auto real = steelyard::next<steelyard::Mask>("pthread_sigmask");
    return steelyard::mask(real, how, set, before);
}
