#include "shapes.h"

/* The same name as in square.c, with another meaning: an order must keep them apart. */
static __attribute__((noinline)) int scaled(int value) {
    return value * 3;
}

int circle(int radius) {
    return scaled(radius * radius);
}
int circle_twice(int radius) {
    return scaled(radius * radius) * 2;
}
