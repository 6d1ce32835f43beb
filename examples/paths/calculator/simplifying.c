#include "calculator.h"

static int is_number(const struct tree* whole, long value) {
    return whole->kind == NUMBER && whole->value == value;
}

struct tree* simplified(struct tree* whole) {
    if (whole->kind == NUMBER)
        return whole;
    whole->left = simplified(whole->left);
    if (whole->right != 0)
        whole->right = simplified(whole->right);
    if (whole->kind == SUM && is_number(whole->left, 0))
        return whole->right;
    if (whole->kind == PRODUCT && is_number(whole->left, 1))
        return whole->right;
    return whole;
}
