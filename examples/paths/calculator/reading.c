#include "calculator.h"

static struct tree* read_product(const char** text);

static struct tree* read_part(const char** text) {
    if (**text == '-') {
        ++*text;
        return new_tree(NEGATIVE, 0, read_part(text), 0);
    }
    if (**text == '(') {
        ++*text;
        struct tree* const inner = read_sum(text);
        ++*text;
        return inner;
    }
    long value = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        value = 10 * value + (**text - '0');
    return new_tree(NUMBER, value, 0, 0);
}

static struct tree* read_product(const char** text) {
    struct tree* whole = read_part(text);
    while (**text == '*') {
        ++*text;
        whole = new_tree(PRODUCT, 0, whole, read_part(text));
    }
    return whole;
}

struct tree* read_sum(const char** text) {
    struct tree* whole = read_product(text);
    while (**text == '+') {
        ++*text;
        whole = new_tree(SUM, 0, whole, read_product(text));
    }
    return whole;
}
