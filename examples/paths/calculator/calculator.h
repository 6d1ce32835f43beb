// Expressions as trees: read, simplified and evaluated by functions that call each other.
#pragma once

enum kind { NUMBER, SUM, PRODUCT, NEGATIVE };

struct tree {
    enum kind kind;
    long value;
    struct tree *left, *right;
};

struct tree* read_sum(const char** text);
struct tree* simplified(struct tree* whole);
long value_of(const struct tree* whole);
struct tree* new_tree(enum kind kind, long value, struct tree* left, struct tree* right);
void forget_trees(void);
