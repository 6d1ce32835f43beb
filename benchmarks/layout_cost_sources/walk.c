/* The class of SQLite's test `unionall2`: objects in a list are closed one by one, and for each all
   that are left are walked along, in the order in which they were allocated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
    struct cursor* next;
    long key, others[10];
};

int main(int count, char** words) {
    const int cursors = count > 1 ? atoi(words[1]) : 12000;
    struct cursor *first = NULL, **last = &first;
    for (int at = 0; at < cursors; ++at) {
        struct cursor* made = malloc(sizeof *made);
        memset(made, 0, sizeof *made);
        made->key = at;
        *last = made;
        last = &made->next;
    }
    /* As they were opened, each looks for its predecessor from the start on. */
    for (int at = cursors; at-- > 0;) {
        struct cursor** place = &first;
        while ((*place)->key != at)
            place = &(*place)->next;
        free(*place);
        *place = NULL;
    }
    return first != NULL;
}
