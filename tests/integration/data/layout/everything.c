/* Every construct of C that leads back into code by another way than a call. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread long in_thread = 7;
static volatile sig_atomic_t signals;
static int constructed;

__attribute__((constructor)) static void before_main(void) {
    constructed = 41;
}

__attribute__((noinline)) static long by_switch(long which, long value) {
    switch (which) {
        case 0:
            return value + 1;
        case 1:
            return value * 7;
        case 2:
            return value ^ 9;
        case 3:
            return value % 11;
        case 4:
            return value / 3;
        case 5:
            return value << 3;
        case 6:
            return value - 100;
        default:
            return 0;
    }
}

__attribute__((noinline)) static long by_labels(const unsigned char* code, long value) {
    static const void* const labels[] = {&&add, &&multiply, &&subtract, &&done};
    goto* labels[*code++];
add:
    value += in_thread * 3 + by_switch(1, value) % 5;
    goto* labels[*code++];
multiply:
    value *= 3 + by_switch(2, value) % 3;
    goto* labels[*code++];
subtract:
    value -= 5 + by_switch(3, value) % 7;
    goto* labels[*code++];
done:
    return value;
}

__attribute__((noinline)) static long recursive(long n) {
    return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

__attribute__((noinline)) static long deep(long n) {
    return n == 0 ? 0 : 1 + deep(n - 1) % 1000003;
}

typedef long (*function)(long);
static long twice(long x) {
    return x * 2;
}
static long thrice(long x) {
    return x * 3;
}
static function table[] = {twice, thrice, recursive};

static int by_order(const void* left, const void* right) {
    return *(const int*)left - *(const int*)right;
}

static void on_signal(int number) {
    signals += number == SIGUSR1;
}

static jmp_buf back;
__attribute__((noinline)) static void jump_back(int n) {
    if (n == 0)
        longjmp(back, 5);
    jump_back(n - 1);
    signals += 0;
}

static void* in_other_thread(void* argument) {
    long sum = 0;
    in_thread = (long)argument;
    for (int i = 0; i < 2000; ++i)
        sum += by_switch(i % 8, i) + recursive(8) + by_labels((const unsigned char*)"\0\1\2\3", i);
    return (void*)(sum % 1000003);
}

int main(int count, char** arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 20;
    long sum = constructed;
    signal(SIGUSR1, on_signal);
    for (int round = 0; round < rounds; ++round) {
        int values[200];
        pthread_t threads[3];
        for (long i = 0; i < 3; ++i)
            pthread_create(&threads[i], NULL, in_other_thread, (void*)i);
        for (int i = 0; i < 200; ++i)
            values[i] = (i * 7919) % 1009;
        qsort(values, 200, sizeof values[0], by_order);
        sum = sum * 31 + values[77] + recursive(15);
        for (int i = 0; i < 3; ++i)
            sum = (sum + table[(round + i) % 3](i + 3)) % 1000003;
        sum += table[0] == twice && table[1] != twice;
        const int jumped = setjmp(back);
        if (jumped == 0)
            jump_back(20);
        sum += jumped;
        raise(SIGUSR1);
        char* text = malloc(100 + (size_t)round);
        snprintf(text, 100, "round %d", round);
        sum += (long)strlen(text);
        free(text);
        for (int i = 0; i < 3; ++i) {
            void* result;
            pthread_join(threads[i], &result);
            sum += (long)result;
        }
        if (round % 5 == 0) {
            const pid_t child = fork();
            if (child == 0)
                _exit((int)(by_switch(3, recursive(12)) % 100));
            int status;
            waitpid(child, &status, 0);
            sum += WEXITSTATUS(status);
        }
    }
    printf("%ld %ld %d\n", sum, deep(100000), (int)signals);
    return 0;
}
