#!/usr/bin/env bash
# Weighs two commands against each other and leaves what a server of continuous integration shows:
# answer.json, answer.md, junit.xml and report.html. Ends with the status of `steelyard compare`: 1
# where a gate failed. The action for GitHub and the template for GitLab run it.
#
#   BASE, HEAD       the two commands, as `steelyard compare` takes them
#   GATES            gates (default: --require not-slower:2% --margin 2%)
#   OPTIONS          further options of `steelyard compare`, such as --budget 5min
#   RESULTS          where the files go (default: steelyard-results)
set -uo pipefail

: "${BASE:?the command of the version before the change}"
: "${HEAD:?the command of the version with the change}"
results=${RESULTS:-steelyard-results}
read -r -a gates <<<"${GATES:---require not-slower:2% --margin 2%}"
read -r -a options <<<"${OPTIONS:-}"
mkdir -p "$results" || exit
export STEELYARD_STORE=${STEELYARD_STORE:-$results/store.sqlite}

status=0
steelyard compare --name base --name head "${gates[@]}" "${options[@]}" \
    --json "$results/answer.json" "$BASE" "$HEAD" || status=$?
case $status in
    0 | 1 | 3) ;; # an answer, a gate that failed, or trials that failed: all have a report
    *) exit "$status" ;;
esac

for form in markdown:answer.md junit:junit.xml html:report.html; do
    # A gate that failed is told by this script's own status.
    steelyard report latest --format "${form%%:*}" -o "$results/${form#*:}" 2>/dev/null || exit
done
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$results/answer.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
