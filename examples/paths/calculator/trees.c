#include <stdlib.h>

#include "calculator.h"

static struct tree room[4096];
static int used;

struct tree* new_tree(enum kind kind, long value, struct tree* left, struct tree* right) {
    if (used == sizeof room / sizeof *room)
        abort();
    struct tree* const made = &room[used++];
    *made = (struct tree){kind, value, left, right};
    return made;
}

void forget_trees(void) {
    used = 0;
}
