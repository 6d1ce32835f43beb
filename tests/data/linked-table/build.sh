#!/bin/sh
# Objects in the order that the table needs; a program whose table is torn is no program.
for each in begin one two end; do $CC $CFLAGS -c $each.c -o $each.o; done
$CC $CFLAGS begin.o one.o two.o end.o -o table
./table || { echo "the table is torn: link begin.o and end.o at its ends" >&2; exit 1; }
