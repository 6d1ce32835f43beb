// The kernel without libc: the mover has no thread-local storage of libc's, and signal
// handlers and allocators must not call into what may hold a lock.

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

// A system call has up to six arguments. NOLINTNEXTLINE(readability-function-size)
inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
    long result = 0;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

inline long word(const void* pointer) {
    return reinterpret_cast<long>(pointer);
}

inline bool failed(long result) {
    return result < 0 && result > -4096;
}

/// Memory pages; null where there are none. `fixed` replaces what is at `address`.
void* map_pages(void* address, std::size_t size, int protection, bool fixed = false);
/// Only where nothing is yet.
void* map_pages_at_free(void* address, std::size_t size, int protection);

/// How much address space the process may have; all bits set where there is no limit.
std::uint64_t address_space_bytes();

std::uint64_t now_ns();

std::size_t length(const char* text);
bool same_text(const char* left, const char* right);

/// The start of a file, up to `size` bytes; the count, or -1.
long read_file(const char* path, char* buffer, std::size_t size);

/// The process that moves functions, which shares the program's memory; 0 where there is none.
extern constinit std::int32_t mover_process;
/// Why it ended before the program did; null where it did not.
extern constinit const char* mover_failure;

/// Ends the process with a message: what follows `steelyard layout: ` on standard error. The mover
/// leaves its message in `mover_failure`, and the program its last layout.
[[noreturn]] void fail(const char* message, const char* detail = "");
void tell(const char* message, const char* detail = "");

/// Text built up in a buffer that grows by pages of its own.
class Text {
  public:
    Text& operator<<(const char* text);
    Text& operator<<(std::uint64_t value);
    Text& quoted(const char* text);
    const char* data() const { return data_; }
    /// With a null byte at its end, until something is added.
    const char* terminated();
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }

  private:
    void put(char letter);

    char* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

/// A lock on a futex; usable by threads that libc does not know.
class Lock {
  public:
    void take();
    /// False where it was not free by then.
    bool take_within(std::uint64_t patience_ns);
    bool try_take();
    void give();
    /// Frees it and wakes nobody; in the child of a fork nobody waits.
    void reset() { __atomic_store_n(&state_, 0, __ATOMIC_RELEASE); }

  private:
    std::uint32_t state_ = 0;  // 0 free, 1 taken, 2 taken and waited for
};

class Guard {
  public:
    explicit Guard(Lock& lock) : lock_(lock) { lock_.take(); }
    ~Guard() { lock_.give(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    Lock& lock_;
};

/// Waits for ever where `timeout_ns` is 0.
void futex_wait(std::uint32_t* word, std::uint32_t expected, std::uint64_t timeout_ns);
void futex_wake(std::uint32_t* word);
void rest(std::uint64_t time_ns);

/// A number in the decimal digits that a text begins with; the text then begins behind it.
std::uint64_t decimal(const char*& text);

}  // namespace steelyard::layout
