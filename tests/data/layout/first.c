#include "shapes.h"

int first_of(int a, int b) {
    return b ? a : b;
}
int second_of(int a, int b) {
    return a ? b : a;
}
