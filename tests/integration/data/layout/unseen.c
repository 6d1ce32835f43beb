/* What a program sees of what moves it: nothing. Its first word says what it looks at; it prints
   what it would print if nothing moved. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile long sink;

static long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

APART static long work(long left) {
    sink += left;
    return left == 0 ? 0 : work(left - 1) + sink % 2;
}

APART static void* here(void) {
    return __builtin_return_address(0);
}

APART static void* place(void) {
    void* found = here();
    __asm__ volatile("" ::: "memory");
    return found;
}

/* Works until it has been in so many copies of a function, or no longer moves. */
APART static long move(long copies) {
    const char *interval = getenv("STEELYARD_LAYOUT"), *moves = "none";
    if (interval == NULL || strcmp(interval, moves) == 0)
        return copies;
    void* last = place();
    long seen = 0;
    for (const long until = now_us() + 60000000; seen < copies && now_us() < until; work(20)) {
        void* found = place();
        seen += found != last;
        last = found;
    }
    return seen;
}

/* The lowest free descriptor is always the same, and what is closed is closed. */
static int descriptors(void) {
    void* last = place();
    long copies = 0, others = 0;
    for (const long until = now_us() + 400000; now_us() < until;) {
        const int file = open("/dev/null", O_RDONLY);
        others += file != 3;
        for (int each = 3; each < 64; ++each)
            close(each);
        copies += place() != last;
        last = place();
    }
    printf("%ld other, moves: %d\n", others, copies > 3 || getenv("STILL") != NULL);
    return 0;
}

static int only_thread(void) {
    move(3);
    printf("ends\n");
    fflush(stdout);
    syscall(SYS_exit, 0);
    return 1;
}

static int namespaces(void) {
    move(3);
    printf("%d\n", unshare(CLONE_NEWUSER));
    move(3);
    return 0;
}

static int strict(void) {
    move(3);
    printf("filtered\n");
    fflush(stdout);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    for (long left = 3000000; left > 0; --left)
        work(20);
    syscall(SYS_exit, 0);
    return 1;
}

static volatile int has_started;

static void* works(void* unused) {
    for (has_started = 1;;)
        work(20);
    return unused;
}

/* A filter for all threads, which lets only a few calls pass and ends the process at others. */
static int filter(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, works, NULL);
    while (!has_started)
        continue;
    move(3);
    printf("filtered\n");
    fflush(stdout);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        return 2;
    for (long left = 3000000; left > 0; --left)
        work(20);
    syscall(SYS_exit_group, 0);
    return 1;
}

/* A filter in a program that forks then. */
static int filter_and_fork(void) {
    move(3);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        return 2;
    const pid_t process = fork();
    if (process == 0) {
        for (const long until = now_us() + 20000; now_us() < until;)
            work(20);
        _exit(5);
    }
    int status = 0;
    waitpid(process, &status, 0);
    printf("%d\n", status);
    return 0;
}

static int address_space(void) {
    enum { bytes = 200 << 20 };
    char* large = malloc(bytes);
    if (large != NULL)
        memset(large, 1, bytes);
    char* small = NULL;
    for (int at = 0; at < 100000 && (small = malloc(100)) != NULL; ++at)
        small[0] = 1;
    printf("%d %d %ld\n", large != NULL, small != NULL, move(3));
    return 0;
}

static int limits(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    printf("%lu\n", (unsigned long)limit.rlim_cur);
    fflush(stdout);
    return system("ulimit -s");
}

static volatile int ends;
static volatile long interrupted;
static uint32_t word;

static void* waits(void* given) {
    const int polls = given != NULL;
    while (!ends) {
        work(200);
        struct timespec time = {0, 300000};
        const long result = polls
                                ? syscall(SYS_ppoll, NULL, 0, &time, NULL, 0)
                                : syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
        if (result == -1 && errno == EINTR)
            __atomic_fetch_add(&interrupted, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static int calls(void) {
    enum { threads = 6 };
    pthread_t all[threads];
    for (long at = 0; at < threads; ++at)
        pthread_create(&all[at], NULL, waits, at % 2 == 0 ? NULL : all);
    for (const long until = now_us() + 1500000; now_us() < until;)
        work(20);
    ends = 1;
    for (int at = 0; at < threads; ++at)
        pthread_join(all[at], NULL);
    printf("%ld interrupted\n", interrupted);
    return 0;
}

/* Nobody is there to wait for, and of threads there is one. */
static int children(void) {
    move(3);
    int status = 0;
    const int found = waitpid(-1, &status, 0);
    const int reason = errno;
    FILE* file = fopen("/proc/self/stat", "r");
    long count = 0;
    if (file == NULL || fscanf(file,
                               "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u"
                               " %*u %*d %*d %*d %*d %ld",
                               &count) != 1)
        return 2;
    printf("%d %d %ld\n", found, reason == ECHILD, count);
    return 0;
}

/* How many children the process has now, be they none of those that wait(2) finds. */
static long child_count(void) {
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE* file = fopen(path, "r");
    if (file == NULL)
        return 0;
    const char* got = fgets(line, sizeof line, file);
    fclose(file);
    long count = 0;
    for (; got != NULL && *got != '\0'; ++got)
        count += *got == ' ';
    return count;
}

/* Whether what executed this program has left it a child, after a minute. */
static int is_left(void) {
    for (const long until = now_us() + 60000000; child_count() > 0 && now_us() < until;)
        while (waitpid(-1, NULL, __WALL | WNOHANG) > 0)
            continue;
    return child_count() > 0;
}

static int executes_itself(char** words) {
    setenv("STEELYARD_LAYOUT", "none", 1);
    execl(words[0], words[0], words[1], "again", (char*)NULL);
    return 2;
}

/* Another program in its place is alone: what moved it ends, and gives its memory back. */
static int executes(char** words) {
    if (words[2] == NULL) {
        move(3);
        return executes_itself(words);
    }
    printf("%d\n", is_left());
    return 0;
}

static void* executes_there(void* words) {
    for (const long until = now_us() + 20000; now_us() < until;)
        work(20);
    executes_itself(words);
    return NULL;
}

/* The same by a thread, when the first one has ended. */
static int executes_by_thread(char** words) {
    if (words[2] == NULL) {
        move(3);
        pthread_t thread;
        pthread_create(&thread, NULL, executes_there, words);
        pthread_exit(NULL);
    }
    printf("%d\n", is_left());
    return 0;
}

/* How many of many children are left a child of their own, when all that runs shares one CPU: a
   program that waits for a move often executes another before what moved it runs on. */
static int executes_during_moves(char** words) {
    if (words[2] != NULL)
        return is_left();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    int left = 0;
    for (int turn = 0; turn < 100 && left == 0; ++turn) {
        const pid_t process = fork();
        if (process == 0) {
            for (const long until = now_us() + 2000 + turn * 20; now_us() < until;)
                work(2);
            exit(executes_itself(words));
        }
        int status = 0;
        waitpid(process, &status, 0);
        left += status != 0;
    }
    printf("%d\n", left);
    return 0;
}

static void* goes_on(void* unused) {
    usleep(20000);
    printf("%d\n", move(5) >= 5);
    return unused;
}

/* How many of many children end by a signal that execute another program, in eight ways, at any
   time between two moves. */
static int executes_others(void) {
    char* const words[] = {"true", NULL};
    int ended = 0;
    for (int turn = 0; turn < 400; ++turn) {
        const pid_t process = fork();
        if (process == 0) {
            for (const long until = now_us() + 1000 + turn % 50 * 20; now_us() < until;)
                work(2);
            if (turn % 8 == 0)
                execve("/bin/true", words, environ);
            if (turn % 8 == 1)
                execv("/bin/true", words);
            if (turn % 8 == 2)
                execvp("true", words);
            if (turn % 8 == 3)
                execl("/bin/true", "true", (char*)NULL);
            if (turn % 8 == 4)
                execlp("true", "true", "and", "more", (char*)NULL);
            if (turn % 8 == 5)
                execle("/bin/true", "true", "more", (char*)NULL, environ);
            if (turn % 8 == 6)
                execvpe("true", words, environ);
            syscall(SYS_execve, "/bin/true", words, environ);
            _exit(9);
        }
        int status = 0;
        waitpid(process, &status, 0);
        ended += status != 0;
    }
    /* Nothing is held where none can be executed. */
    execl("/nowhere/to/be/found", "found", (char*)NULL);
    printf("%d %d, moves: %d\n", ended, errno == ENOENT, move(3) >= 3);
    return 0;
}

static int without_first(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, goes_on, NULL);
    pthread_exit(NULL);
}

static void send_to_mover(int signal) {
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE* file = fopen(path, "r");
    if (file != NULL && fgets(line, sizeof line, file) != NULL)
        kill(atoi(line), signal);
    if (file != NULL)
        fclose(file);
}

/* What moves it is killed, or stopped: it goes on with its last layout, forks, and ends. */
static int without_mover(int signal) {
    move(3);
    send_to_mover(signal);
    for (const long until = now_us() + 50000; now_us() < until;)
        work(20);
    const pid_t process = fork();
    if (process == 0)
        exit(move(3) >= 3 ? 4 : 5);
    int status = 0;
    waitpid(process, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    send_to_mover(signal);
    return 0;
}

/* Whether all memory can be locked, and no more of it is there then than the program uses. */
static int locks_memory(void) {
    long pages = 0, resident = 0;
    sink += (long)malloc(100);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return printf("may not\n") < 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        return 1;
    fclose(file);
    memset(malloc(20u << 20), 1, 20u << 20);
    return printf("%d\n", resident < (100 << 20) / 4096) < 0;
}

static void* ends_at_once(void* given) {
    return given;
}

/* What a program that limits its own address space still gets: stack, memory, objects, a thread. */
static int limits_itself(void) {
    const struct rlimit limit = {300u << 20, 300u << 20};
    pthread_t thread;
    sink += (long)malloc(100);
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    volatile char deep[2 << 20];
    deep[0] = 1;
    void* mapped = mmap(NULL, 32 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int objects = 0;
    for (; objects < 1000 && malloc(20000) != NULL; ++objects)
        sink += deep[0];
    const int started = pthread_create(&thread, NULL, ends_at_once, NULL);
    if (started == 0)
        pthread_join(thread, NULL);
    return printf("%d %d %d\n", mapped != MAP_FAILED, objects, started) < 0;
}

static long address_space_pages(void) {
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        return -1;
    fclose(file);
    return pages;
}

/* Whether a child that limits itself before it executes leaves its parent's address space alone. */
static int limits_child_of_vfork(void) {
    const struct rlimit limit = {400u << 20, 400u << 20};
    sink += (long)malloc(100);
    const long before = address_space_pages();
    const pid_t process = vfork();
    if (process == 0) {
        setrlimit(RLIMIT_AS, &limit);
        _exit(0);
    }
    int status = 0;
    waitpid(process, &status, 0);
    return printf("%d\n", before > 0 && address_space_pages() > before / 2) < 0;
}

int main(int count, char** words) {
    const char* what = count > 1 ? words[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "descriptors") == 0)
        return descriptors();
    if (strcmp(what, "only-thread") == 0)
        return only_thread();
    if (strcmp(what, "namespaces") == 0)
        return namespaces();
    if (strcmp(what, "strict") == 0)
        return strict();
    if (strcmp(what, "filter") == 0)
        return filter();
    if (strcmp(what, "filter-and-fork") == 0)
        return filter_and_fork();
    if (strcmp(what, "address-space") == 0)
        return address_space();
    if (strcmp(what, "locks-memory") == 0)
        return locks_memory();
    if (strcmp(what, "limits-itself") == 0)
        return limits_itself();
    if (strcmp(what, "limits-child-of-vfork") == 0)
        return limits_child_of_vfork();
    if (strcmp(what, "limits") == 0)
        return limits();
    if (strcmp(what, "calls") == 0)
        return calls();
    if (strcmp(what, "children") == 0)
        return children();
    if (strcmp(what, "executes") == 0)
        return executes(words);
    if (strcmp(what, "executes-by-thread") == 0)
        return executes_by_thread(words);
    if (strcmp(what, "executes-during-moves") == 0)
        return executes_during_moves(words);
    if (strcmp(what, "executes-others") == 0)
        return executes_others();
    if (strcmp(what, "without-first") == 0)
        return without_first();
    if (strcmp(what, "killed") == 0)
        return without_mover(SIGKILL);
    return strcmp(what, "stopped") == 0 ? without_mover(SIGSTOP) : 2;
}
