#!/bin/sh
# Slurm runs it on a node before each Slurm job (Prolog= in slurm.conf, as root). A status other than
# 0 sets the node aside and runs the job elsewhere: something else runs there. Keeps how the host is
# set, drops the caches, and says in the log of slurmd why it refuses.
state=${STEELYARD_NODE_STATE:-/run/steelyard-node}
most=${STEELYARD_NODE_BUSY_PERCENT:-10}
here=$(dirname "$0")

# Ticks of all CPUs that did something, and all ticks (proc_stat(5)).
ticks() {
    awk '/^cpu / { all = 0; for (at = 2; at <= 9; ++at) all += $at; print all - $5 - $6, all }' /proc/stat
}

sync
if [ -z "${STEELYARD_NODE_ROOT:-}" ] && [ -w /proc/sys/vm/drop_caches ]; then
    echo 3 >/proc/sys/vm/drop_caches
fi
before=$(ticks)
sleep 1
after=$(ticks)
busy=$(echo "$before $after" | awk '{ all = $4 - $2; print (all > 0 ? int(100 * ($3 - $1) / all) : 0) }')
if [ "$busy" -gt "$most" ]; then
    echo "steelyard: something else runs on this node: its CPUs were busy for $busy % of a second, $most % are allowed" >&2
    ps -eo pcpu,user,args --sort=-pcpu 2>/dev/null | head -n 4 >&2
    exit 1
fi
mkdir -p "$state" && "$here/node-state.sh" >"$state/${SLURM_JOB_ID:-job}"
