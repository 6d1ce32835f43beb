#!/bin/sh
# How much smaller: what Oliveira 2015 (4.3.1) divides by the time.
set -e
before=$(wc -c < input)
after=$(wc -c < output)
echo 'reduced (B),compressed (B)' > results.csv
echo "$((before - after)),$after" >> results.csv
tar -czf results.tar.gz results.csv
echo results.tar.gz
