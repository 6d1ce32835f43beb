#!/bin/sh
# Prints what of a host a benchmark may have changed, and what others are measured by: a line each.
root=${STEELYARD_NODE_ROOT:-}

for file in \
    "$root"/sys/devices/system/cpu/online \
    "$root"/sys/devices/system/cpu/smt/control \
    "$root"/sys/devices/system/cpu/intel_pstate/no_turbo \
    "$root"/sys/devices/system/cpu/cpufreq/boost \
    "$root"/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor \
    "$root"/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_max_freq \
    "$root"/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_min_freq \
    "$root"/sys/kernel/mm/transparent_hugepage/enabled \
    "$root"/proc/sys/kernel/randomize_va_space \
    "$root"/proc/sys/kernel/perf_event_paranoid \
    "$root"/proc/sys/kernel/nmi_watchdog \
    "$root"/proc/sys/vm/swappiness \
    "$root"/proc/sys/vm/nr_hugepages; do
    if [ -r "$file" ]; then
        printf '%s is %s\n' "${file#"$root"}" "$(cat "$file")"
    fi
done
if [ -r "$root/proc/modules" ]; then
    cut -d ' ' -f 1 "$root/proc/modules" | sort | sed 's/^/the module /; s/$/ is loaded/'
fi
if [ -r "$root/proc/swaps" ]; then
    tail -n +2 "$root/proc/swaps" | cut -d ' ' -f 1 | sort | sed 's/$/ is swapped to/'
fi
