// Two processes that hand a byte to each other so many times, as a client and its server do, and so
// sleep and wake as often. Writes how long that took, in nanoseconds.
//
//     handover COUNT FILE

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ, WRITE };

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void give(int file) {
    const char byte = 'b';
    if (write(file, &byte, 1) != 1)
        exit(1);
}

static void take(int file) {
    char byte;
    if (read(file, &byte, 1) != 1)
        exit(1);
}

int main(int count, char** words) {
    int request[2], answer[2];
    if (count != 3 || pipe(request) != 0 || pipe(answer) != 0)
        return 2;
    const unsigned long handovers = strtoul(words[1], NULL, 10);
    const pid_t server = fork();
    if (server < 0)
        return 1;
    if (server == 0) {
        for (unsigned long i = 0; i < handovers; ++i) {
            take(request[READ]);
            give(answer[WRITE]);
        }
        return 0;
    }
    const uint64_t start_ns = now_ns();
    for (unsigned long i = 0; i < handovers; ++i) {
        give(request[WRITE]);
        take(answer[READ]);
    }
    const uint64_t elapsed_ns = now_ns() - start_ns;
    waitpid(server, NULL, 0);
    FILE* told = fopen(words[2], "w");
    if (told == NULL)
        return 1;
    fprintf(told, "%llu\n", (unsigned long long)elapsed_ns);
    return fclose(told) == 0 ? 0 : 1;
}
