/* Benchmarks of cJSON: one by its name. Only what `measured` does is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cJSON.h"
#include "made_text.h"

enum { ITEMS = 250, WORDS = 6000, TEXT = 120000 };
static char words[WORDS], records[TEXT], numbers[TEXT], strings[TEXT], nested[TEXT], work[TEXT];
static cJSON *tree, *digits;

static void make_texts(void) {
    size_t size = make_text(words, sizeof words, 99), at = 0, digit = 0, string = 0, depth = 0;
    for (size_t letter = 0; letter < size; letter++)
        words[letter] = words[letter] == '\n' ? ' ' : words[letter];
    at += sprintf(records, "[");
    digit += sprintf(numbers, "[0");
    string += sprintf(strings, "[\"\"");
    for (int item = 0; item < ITEMS; item++) {
        int from = item * 29 % (WORDS - 200);
        at += sprintf(records + at,
                      "%s\n  {\"id\": %d, \"name\": \"%.*s\", \"price\": %d.25, \"on\": %s,\n"
                      "   \"tags\": [\"a\", \"b%d\", null], \"at\": {\"x\": -%d, \"y\": %de-2}}",
                      item ? "," : "", item, 20 + item % 9, words + from, item * 7 % 900,
                      item % 3 ? "true" : "false", item, item, item * 3);
        digit += sprintf(numbers + digit, ", %d, -%d.%d, %d.5e%d", item * item, item,
                         item * 13 % 100, item, item % 12);
        string += sprintf(strings + string, ",\"%.*s\\n\\t\\\"%d\\u00e9\\ud834\\udd1e\"",
                          40 + item % 20, words + from, item);
    }
    sprintf(records + at, "\n]");
    sprintf(numbers + digit, "]");
    sprintf(strings + string, "]");
    for (int level = 0; level < 200; level++)
        depth += sprintf(nested + depth, "{\"k%d\": [", level);
    for (int level = 0; level < 200; level++)
        depth += sprintf(nested + depth, "]}");
}

static long parse(const char* text, int rounds) {
    long sum = 0;
    for (int round = 0; round < rounds; round++) {
        cJSON* found = cJSON_Parse(text);
        sum += found != NULL;
        cJSON_Delete(found);
    }
    return sum;
}

static long print(cJSON* item, int formatted) {
    char* text = formatted ? cJSON_Print(item) : cJSON_PrintUnformatted(item);
    long size = (long)strlen(text);
    free(text);
    return size;
}

static long look_up(void) {
    long sum = 0;
    for (int item = 0; item < ITEMS; item += 5) {
        cJSON* one = cJSON_GetArrayItem(tree, item);
        sum += cJSON_GetObjectItem(one, "PRICE")->valueint;
        sum += cJSON_GetArraySize(cJSON_GetObjectItem(one, "tags"));
    }
    return sum;
}

static long build(void) {
    cJSON* all = cJSON_CreateArray();
    for (int item = 0; item < ITEMS; item++) {
        cJSON* one = cJSON_CreateObject();
        cJSON_AddItemToObject(one, "number", cJSON_CreateNumber(item));
        cJSON_AddItemToObject(one, "text", cJSON_CreateString("a text"));
        cJSON_AddItemToArray(all, one);
    }
    long count = cJSON_GetArraySize(all);
    cJSON_Delete(all);
    return count;
}

static long duplicate(void) {
    cJSON* copy = cJSON_Duplicate(tree, 1);
    long count = cJSON_GetArraySize(copy);
    cJSON_Delete(copy);
    return count;
}

static long minify(void) {
    cJSON_Minify(work);
    return (long)strlen(work);
}

__attribute__((noinline)) long measured(const char* name) {
    if (!strcmp(name, "parse-records"))
        return parse(records, 3);
    if (!strcmp(name, "parse-numbers"))
        return parse(numbers, 5);
    if (!strcmp(name, "parse-strings"))
        return parse(strings, 8);
    if (!strcmp(name, "parse-nested"))
        return parse(nested, 30);
    if (!strcmp(name, "print"))
        return print(tree, 1);
    if (!strcmp(name, "print-unformatted"))
        return print(tree, 0);
    if (!strcmp(name, "print-numbers"))
        return print(digits, 0);
    if (!strcmp(name, "look-up"))
        return look_up();
    if (!strcmp(name, "build"))
        return build();
    if (!strcmp(name, "duplicate"))
        return duplicate();
    if (!strcmp(name, "minify"))
        return minify();
    return -1;
}

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    make_texts();
    strcpy(work, records);
    tree = cJSON_Parse(records);
    digits = cJSON_Parse(numbers);
    if (!tree || !digits)
        return 1;
    long result = measured(arguments[1]);
    printf("%ld\n", result);
    return result <= 0;
}
