/* The shared library of shares.c: twice the work of `here`. */

#include "shares.h"

void in_library(void) {
    chain(2 * UNIT);
}
