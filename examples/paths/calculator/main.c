// Evaluates an expression again and again, and prints how much processor time it took for that.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "calculator.h"

int main(int count, char** words) {
    const long rounds = count > 1 ? atol(words[1]) : 400000;
    const char* const text =
        "1*(2+3*(4+-5)*6)+0+7*(8+(9+10)*-11)+1*12*(13+(14+15*(16+17)))+18*19+(20+21)";
    long total = 0;
    for (long round = 0; round < rounds; ++round) {
        const char* rest = text;
        struct tree* const whole = simplified(read_sum(&rest));
        total += value_of(whole);
        forget_trees();
    }
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("total %ld\ntook %ld.%09ld\n", total, used.tv_sec, used.tv_nsec);
    return 0;
}
