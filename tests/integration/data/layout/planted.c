// What is hard to move: assembly with labels, jumps of it out of a statement, addresses of
// functions in data that no boundary holds, a function that is chosen when the program is loaded.
#include <stdio.h>
#include <string.h>
#include <time.h>

int moves(int), has_no_size(void), is_not_marked(void), is_entered_inside(int), has_data(long);

__attribute__((noinline)) static int with_labels(int x) {
    int result;
    __asm__ volatile("testl %1, %1\n\tjz 7f\n\tmovl $5, %0\n\tjmp 8f\n7:\tmovl $6, %0\n8:\n"
                     : "=r"(result)
                     : "r"(x));
    return result;
}

__attribute__((noinline)) static int jumps_out(int x) {
    __asm__ goto("testl %0, %0\n\tjz %l1" : : "r"(x) : : zero);
    return 1;
zero:
    return 0;
}

struct __attribute__((packed)) Odd {
    char name;
    int (*function)(int);
};

static struct Odd table[] = {{'a', with_labels}, {'b', jumps_out}, {'c', moves}};

static int fast(int x) {
    return x + 100;
}
static int slow(int x) {
    return x + 200;
}
static void* resolve(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse2") ? (void*)fast : (void*)slow;
}
int chosen(int) __attribute__((ifunc("resolve")));

int main(void) {
    struct Odd copy;
    memcpy(&copy, &table[2], sizeof copy);
    const clock_t until = clock() + CLOCKS_PER_SEC / 50;
    long first = 0;
    for (long round = 0; round == 0 || clock() < until; ++round) {
        long sum = copy.function == moves;
        for (int i = 0; i < 1000; ++i) {
            sum += moves(i) + has_no_size() + is_not_marked() + is_entered_inside(i);
            sum += has_data(i & 3) + chosen(i) + table[i % 3].function(i & 7);
        }
        first = round == 0 ? sum : first;
        if (sum != first)
            return 1;
    }
    printf("%ld\n", first);
    return 0;
}
