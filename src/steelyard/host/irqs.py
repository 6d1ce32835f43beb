"""Interrupts: on which CPUs the kernel may handle them."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.cpu_list import format_cpu_list, is_cpu_text, parse_cpu_list
from steelyard.host.system import Host

_IRQ = "/proc/irq"
_DEFAULT = f"{_IRQ}/default_smp_affinity"
_WORKQUEUES = "/sys/devices/virtual/workqueue/cpumask"


def irq_numbers(host: Host) -> list[str]:
    """The interrupts that have an affinity."""
    return [name for name in host.names(_IRQ) if name.isdigit()]


def read_irq_cpus(host: Host) -> dict[str, str]:
    """The text of each file that says where interrupts and unbound kernel work may run."""
    paths = [f"{_IRQ}/{name}/smp_affinity_list" for name in irq_numbers(host)]
    found = {path: host.read(path) for path in [*paths, _DEFAULT, _WORKQUEUES]}
    return {path: text for path, text in found.items() if text}


def foreign_irqs(states: Sequence[dict[str, str]]) -> str | None:
    """What in states of `read_irq_cpus` is no such file, or no CPUs; None when nothing is."""
    for state in states:
        for path, text in state.items():
            number = path.removeprefix(f"{_IRQ}/").removesuffix("/smp_affinity_list")
            known = path in (_DEFAULT, _WORKQUEUES) or path == f"{_IRQ}/{number}/smp_affinity_list"
            if not known or (path not in (_DEFAULT, _WORKQUEUES) and not number.isdigit()):
                return f"{path!r} is no file of interrupts"
            if not is_cpu_text(text):
                return f"{text!r} is no list of CPUs"
    return None


def without_cpus(
    files: dict[str, str], shield: Sequence[int], rest: Sequence[int]
) -> dict[str, str]:
    """The texts that keep interrupts off `shield`, for the `files` that name one of its CPUs."""
    changed: dict[str, str] = {}
    for path, text in files.items():
        is_list = path.endswith("_list")
        cpus = parse_cpu_list(text) if is_list else parse_cpu_mask(text)
        if not set(cpus) & set(shield):
            continue
        left = [cpu for cpu in cpus if cpu not in shield] or list(rest)
        changed[path] = format_cpu_list(left) if is_list else format_cpu_mask(left, text)
    return changed


def move_irqs(host: Host, wanted: dict[str, str]) -> list[str]:
    """Write the wanted texts; what the kernel does not let go of (`EIO` and others)."""
    kept: list[str] = []
    for path, text in wanted.items():
        if host.read(path) == text:
            continue
        try:
            host.write(path, text)
        except OSError as error:
            kept.append(f"{path.removesuffix('/smp_affinity_list')}: {error.strerror}")
    return kept


def parse_cpu_mask(text: str) -> tuple[int, ...]:
    """The CPUs of a mask such as ``ff,00000001``: 32 bits a group, highest first."""
    bits = int(text.replace(",", "") or "0", 16)
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def format_cpu_mask(cpus: Sequence[int], like: str) -> str:
    """A mask of `cpus`, with as many digits and groups as `like` has."""
    digits = f"{sum(1 << cpu for cpu in cpus):x}".rjust(len(like.replace(",", "")), "0")
    groups: list[str] = []
    while digits:
        groups.insert(0, digits[-8:])
        digits = digits[:-8]
    return ",".join(groups)
