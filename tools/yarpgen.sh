#!/bin/sh
# Builds YARPGen, which makes up C++ programs for `make test-generated`, as build/yarpgen/yarpgen.
# It is in no package of Debian's. YARPGEN_SOURCE may name a clone that is here already.
set -eu
cd "$(dirname "$0")/.."
commit=0b41961ed8c36cd470958fd8c287f27ddd97c0e3
made=build/yarpgen
[ -x $made/yarpgen ] && exit 0
mkdir -p $made
rm -rf $made/source
git clone -q "${YARPGEN_SOURCE:-https://github.com/intel/yarpgen}" $made/source || {
    echo "yarpgen: YARPGen cannot be fetched, so its programs are left out" >&2
    echo "yarpgen: name a clone of it: YARPGEN_SOURCE=FOLDER make test-generated" >&2
    exit 0
}
git -C $made/source checkout -q $commit
cmake -S $made/source -B $made/made -DCMAKE_BUILD_TYPE=Release >$made/build.log
cmake --build $made/made --target yarpgen >>$made/build.log
cp $made/made/yarpgen $made/yarpgen
