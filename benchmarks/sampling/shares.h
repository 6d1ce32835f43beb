/* What the functions of shares.c and of its library do. */

enum { UNIT = 6000 };

#define APART __attribute__((noinline))
/* Nothing, but a call before it is no jump. */
#define KEEP_FRAME __asm__ volatile("")

/* One step of a chain, which the compiler may not join with the next. */
static inline __attribute__((always_inline)) unsigned long step(unsigned long x) {
    x = x * 2862933555777941757UL + 1;
    __asm__ volatile("" : "+r"(x));
    return x;
}
#define STEPS_4(x) step(step(step(step(x))))
#define STEPS_8(x) STEPS_4(STEPS_4(x))

static inline __attribute__((always_inline)) void chain(long turns) {
    unsigned long x = 1;
    for (long i = 0; i < turns; i++)
        x = step(x);
}

void in_library(void);
