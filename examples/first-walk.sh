#!/bin/sh
# From nothing to a verdict, a page, a gate and a false claim mended: docs/first-walk.md shows what
# it prints. Run it in an empty directory with `steelyard` in the PATH; it takes less than a minute.
set -u
budget=${WALK_BUDGET:-20s}
run() {
    printf '\n$'
    for word; do
        case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    echo
    "$@"
    echo "(exit status $?)"
}

# A claim to check: 'sorting by a loop is as fast as sort()'. Two programs, made here.
cat > loop.py <<'EOF'
values = [(7919 * k) % 1009 for k in range(400)]
for i in range(len(values)):
    for j in range(i):
        if values[j] > values[i]:
            values[i], values[j] = values[j], values[i]
EOF
cat > library.py <<'EOF'
values = [(7919 * k) % 1009 for k in range(400)]
values.sort()
EOF

# 1. One program: a number soon, and what a better one takes.
run steelyard measure --budget 10s -- python3 -S library.py

# 2. The verdict: is the claim true?
run steelyard compare --budget "$budget" --name library --name loop 'python3 -S library.py' 'python3 -S loop.py'

# 3. The page for those who want to see it.
run steelyard report latest -o walk.html

# 4. A gate for CI: exit status 1 where the new program is surely more than 2 % slower.
run steelyard compare --budget "$budget" --fail-if slower:2% --name library --name loop \
    'python3 -S library.py' 'python3 -S loop.py'

# 5. The claim mended: the loop is replaced, and the gate passes.
cp library.py loop.py
run steelyard compare --budget "$budget" --fail-if slower:2% --name library --name mended \
    'python3 -S library.py' 'python3 -S loop.py'
