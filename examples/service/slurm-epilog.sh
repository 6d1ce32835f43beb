#!/bin/sh
# Slurm runs it on a node after each Slurm job (Epilog= in slurm.conf, as root). A status other than
# 0 sets the node aside until somebody looks: it is not as it was before the job, or something of the
# job still runs. Says what in the log of slurmd.
state=${STEELYARD_NODE_STATE:-/run/steelyard-node}/${SLURM_JOB_ID:-job}
here=$(dirname "$0")
status=0

# Of root's processes it cannot be told whose they are.
user=${SLURM_JOB_UID:-0}
if [ "$user" -ne 0 ] && left=$(ps -o pid=,args= -u "$user"); then
    echo "steelyard: of the Slurm job ${SLURM_JOB_ID:-} is left:" >&2
    echo "$left" >&2
    pkill -KILL -u "$user"
    status=1
fi
if [ -r "$state" ]; then
    if ! changed=$("$here/node-state.sh" | diff "$state" -); then
        echo "steelyard: the node is not as it was before the Slurm job ${SLURM_JOB_ID:-} (<) but changed (>):" >&2
        echo "$changed" | grep '^[<>]' >&2
        status=1
    fi
    rm -f "$state"
fi
exit $status
