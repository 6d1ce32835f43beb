#include "raw.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

namespace steelyard::layout {

namespace {

constexpr int failure_status =
    125;  // what env(1) and timeout(1) end with when they fail themselves
constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::size_t first_text_bytes = 1U << 16U;

void* pages_or_null(long result) {
    return failed(result) ? nullptr : reinterpret_cast<void*>(result);
}

}  // namespace

void* map_pages(void* address, std::size_t size, int protection, bool fixed) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED : 0);
    return pages_or_null(
        raw(SYS_mmap, word(address), static_cast<long>(size), protection, flags, -1, 0));
}

void* map_pages_at_free(void* address, std::size_t size, int protection) {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void* found = pages_or_null(
        raw(SYS_mmap, word(address), static_cast<long>(size), protection, flags, -1, 0));
    if (found != nullptr && found != address) {  // a kernel before 4.17 takes it as a hint
        raw(SYS_munmap, word(found), static_cast<long>(size));
        return nullptr;
    }
    return found;
}

std::size_t length(const char* text) {
    std::size_t size = 0;
    while (text[size] != '\0')
        ++size;
    return size;
}

bool same_text(const char* left, const char* right) {
    while (*left != '\0' && *left == *right) {
        ++left;
        ++right;
    }
    return *left == *right;
}

std::uint64_t address_space_bytes() {
    rlimit limit{};
    return failed(raw(SYS_prlimit64, 0, RLIMIT_AS, 0, word(&limit))) ? RLIM_INFINITY
                                                                     : limit.rlim_cur;
}

std::uint64_t now_ns() {
    timespec now{};
    raw(SYS_clock_gettime, CLOCK_MONOTONIC, word(&now));
    return static_cast<std::uint64_t>(now.tv_sec) * second_ns +
           static_cast<std::uint64_t>(now.tv_nsec);
}

long read_file(const char* path, char* buffer, std::size_t size) {
    const long file = raw(SYS_open, word(path), O_RDONLY | O_CLOEXEC);
    if (failed(file))
        return -1;
    std::size_t done = 0;
    while (done < size) {
        const long count = raw(SYS_read, file, word(buffer + done), static_cast<long>(size - done));
        if (count <= 0)
            break;
        done += static_cast<std::size_t>(count);
    }
    raw(SYS_close, file);
    return static_cast<long>(done);
}

void tell(const char* message, const char* detail) {
    Text text;
    text << "steelyard layout: " << message << detail << "\n";
    raw(SYS_write, 2, word(text.data()), static_cast<long>(text.size()));
}

constinit std::int32_t mover_process = 0;
constinit const char* mover_failure = nullptr;

void fail(const char* message, const char* detail) {
    if (mover_process != 0 && raw(SYS_getpid) == mover_process) {
        mover_failure = message;
        raw(SYS_exit, 0);
    }
    tell(message, detail);
    raw(SYS_exit_group, failure_status);
    __builtin_unreachable();
}

void Text::put(char letter) {
    if (size_ == capacity_) {
        const std::size_t wanted = capacity_ == 0 ? first_text_bytes : capacity_ * 2;
        auto* grown = static_cast<char*>(map_pages(nullptr, wanted, PROT_READ | PROT_WRITE));
        if (grown == nullptr)
            return;
        if (data_ != nullptr) {
            __builtin_memcpy(grown, data_, size_);
            raw(SYS_munmap, word(data_), static_cast<long>(capacity_));
        }
        data_ = grown;
        capacity_ = wanted;
    }
    data_[size_++] = letter;
}

Text& Text::operator<<(const char* text) {
    const std::size_t size = length(text);
    for (std::size_t at = 0; at < size; ++at)
        put(text[at]);
    return *this;
}

Text& Text::operator<<(std::uint64_t value) {
    char digits[20];
    std::size_t count = 0;
    do {
        digits[count++] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count != 0)
        put(digits[--count]);
    return *this;
}

const char* Text::terminated() {
    put('\0');
    --size_;
    return data_;
}

Text& Text::quoted(const char* text) {
    put('"');
    for (; *text != '\0'; ++text) {
        const bool plain = *text >= ' ' && *text < 0x7f && *text != '"' && *text != '\\';
        put(plain ? *text : '?');
    }
    put('"');
    return *this;
}

void futex_wait(std::uint32_t* word_at, std::uint32_t expected, std::uint64_t timeout_ns) {
    timespec timeout{static_cast<time_t>(timeout_ns / second_ns),
                     static_cast<long>(timeout_ns % second_ns)};
    raw(SYS_futex, word(word_at), FUTEX_WAIT_PRIVATE, expected,
        timeout_ns == 0 ? 0 : word(&timeout));
}

void futex_wake(std::uint32_t* word_at) {
    constexpr long all = 0x7fffffff;
    raw(SYS_futex, word(word_at), FUTEX_WAKE_PRIVATE, all);
}

void rest(std::uint64_t time_ns) {
    const timespec time{static_cast<time_t>(time_ns / second_ns),
                        static_cast<long>(time_ns % second_ns)};
    raw(SYS_nanosleep, word(&time));
}

std::uint64_t decimal(const char*& text) {
    std::uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text)
        value = value * 10 + static_cast<std::uint64_t>(*text - '0');
    return value;
}

bool Lock::try_take() {
    std::uint32_t seen = 0;
    return __atomic_compare_exchange_n(&state_, &seen, 1, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

bool Lock::take_within(std::uint64_t patience_ns) {
    if (try_take())
        return true;
    const std::uint64_t until_ns = now_ns() + patience_ns;
    while (__atomic_exchange_n(&state_, 2, __ATOMIC_ACQUIRE) != 0) {
        const std::uint64_t at_ns = now_ns();
        if (at_ns >= until_ns)
            return false;
        futex_wait(&state_, 2, until_ns - at_ns);
    }
    return true;
}

void Lock::take() {
    if (try_take())
        return;
    while (__atomic_exchange_n(&state_, 2, __ATOMIC_ACQUIRE) != 0)
        futex_wait(&state_, 2, 0);
}

void Lock::give() {
    if (__atomic_exchange_n(&state_, 0, __ATOMIC_RELEASE) == 2)
        futex_wake(&state_);
}

}  // namespace steelyard::layout
