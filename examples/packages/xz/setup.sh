#!/bin/sh
# The same text on every host: numbers in words, of a seed.
awk 'BEGIN {
    srand(1)
    split("zero one two three four five six seven eight nine", word)
    for (line = 0; line < 120000; line++)
        printf "%d %s %s %s\n", line, word[1 + int(10 * rand())], word[1 + int(10 * rand())],
            word[1 + int(10 * rand())]
}' > input
