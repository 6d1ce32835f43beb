#include "calculator.h"

static long sum_of(const struct tree* whole) {
    return value_of(whole->left) + value_of(whole->right);
}

static long product_of(const struct tree* whole) {
    return value_of(whole->left) * value_of(whole->right) % 1000003;
}

long value_of(const struct tree* whole) {
    switch (whole->kind) {
        case SUM:
            return sum_of(whole);
        case PRODUCT:
            return product_of(whole);
        case NEGATIVE:
            return -value_of(whole->left);
        default:
            return whole->value;
    }
}
