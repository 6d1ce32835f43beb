/* Counts allocations of a program that it is preloaded into.
 *
 * The counts lie in a file that is mapped and shared, whose name the environment has, so that they
 * survive a program that ends without its handlers, and those of child processes add up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct counts {
    _Atomic unsigned long long allocations;
    _Atomic unsigned long long bytes;
};

static struct counts unwatched;
static struct counts* counts = &unwatched;
static void* (*real_malloc)(size_t);
static void* (*real_calloc)(size_t, size_t);
static void* (*real_realloc)(void*, size_t);
static void* (*real_aligned_alloc)(size_t, size_t);
static int (*real_posix_memalign)(void**, size_t, size_t);
static void (*real_free)(void*);

/* What dlsym itself allocates before the real functions are known. */
static char early[1 << 16];
static size_t early_used;

static void find_real(void) {
    static _Thread_local int searching;
    if (searching)
        return;
    searching = 1;
    real_calloc = dlsym(RTLD_NEXT, "calloc");
    real_malloc = dlsym(RTLD_NEXT, "malloc");
    real_realloc = dlsym(RTLD_NEXT, "realloc");
    real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    real_free = dlsym(RTLD_NEXT, "free");
    searching = 0;
}

static void* take_early(size_t size) {
    size_t aligned = (size + 15) & ~(size_t)15;
    if (early_used + aligned > sizeof early)
        return NULL;
    early_used += aligned;
    return early + early_used - aligned;
}

static int is_early(const void* pointer) {
    return (const char*)pointer >= early && (const char*)pointer < early + sizeof early;
}

__attribute__((constructor)) static void start(void) {
    const char* path = getenv("STEELYARD_ALLOCATIONS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void* shared = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared != MAP_FAILED)
            counts = shared;
        close(file);
    }
}

static void count(size_t size) {
    atomic_fetch_add_explicit(&counts->allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->bytes, size, memory_order_relaxed);
}

void* malloc(size_t size) {
    if (!real_malloc)
        find_real();
    count(size);
    return real_malloc ? real_malloc(size) : take_early(size);
}

void* calloc(size_t number, size_t size) {
    if (!real_calloc)
        find_real();
    count(number * size);
    return real_calloc ? real_calloc(number, size) : take_early(number * size);
}

void* realloc(void* old, size_t size) {
    if (!real_realloc)
        find_real();
    count(size);
    if (!is_early(old))
        return real_realloc ? real_realloc(old, size) : take_early(size);
    void* moved = real_malloc ? real_malloc(size) : take_early(size);
    if (moved) {
        size_t there = (size_t)(early + sizeof early - (char*)old);
        memcpy(moved, old, size < there ? size : there);
    }
    return moved;
}

void* aligned_alloc(size_t alignment, size_t size) {
    if (!real_aligned_alloc)
        find_real();
    count(size);
    return real_aligned_alloc(alignment, size);
}

int posix_memalign(void** target, size_t alignment, size_t size) {
    if (!real_posix_memalign)
        find_real();
    count(size);
    return real_posix_memalign ? real_posix_memalign(target, alignment, size) : ENOMEM;
}

void free(void* pointer) {
    if (is_early(pointer))
        return;
    if (!real_free)
        find_real();
    real_free(pointer);
}
