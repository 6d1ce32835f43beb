"""Files of profiles made by hand, byte for byte as the format's description says."""

import json
import struct
import zlib

HEADER = {
    "argv": ["./program"],
    "process": None,
    "period": 1e6,
    "unit": "ns",
    "spread": "uniform",
    "ratio": 1.0,
    "seed": 7,
    "event": "cpu-clock",
    "stacks": "none",
}


def head(**changes):
    line = json.dumps({**HEADER, **changes}).encode()
    return b"STEELYARD-PROFILE 1\n" + line + b"\n"


def chunk(mark, payload):
    return mark + struct.pack("<II", len(payload), zlib.crc32(payload)) + payload


def samples(*entries):
    """Each entry: (time_ns, process, thread, cpu, in_kernel, user_address, chain)."""
    fixed = b"".join(
        struct.pack("<QIIHBQQQQH", t, p, th, cpu, kernel, address, address, 0, 0, len(chain))
        for t, p, th, cpu, kernel, address, chain in entries
    )
    chains = b"".join(struct.pack(f"<{len(e[6])}Q", *e[6]) for e in entries)
    return chunk(b"SMPL", struct.pack("<I", len(entries)) + fixed + chains)


def text(value):
    data = value.encode()
    return struct.pack("<H", len(data)) + data


def mapping(time_ns, process, start, length, offset, path):
    return b"M" + struct.pack("<QIQQQ", time_ns, process, start, length, offset) + text(path)


def identity(inode=0, build_id=""):
    """Of the mapping before it."""
    data = bytes.fromhex(build_id)
    return b"I" + struct.pack("<QH", inode, len(data)) + data


def naming(time_ns, process, thread, name, after_exec=False):
    return b"C" + struct.pack("<QIIB", time_ns, process, thread, after_exec) + text(name)


def start(time_ns, process, thread, parent_process, parent_thread):
    return b"F" + struct.pack("<QIIII", time_ns, process, thread, parent_process, parent_thread)


def end(time_ns, process, thread):
    return b"X" + struct.pack("<QII", time_ns, process, thread)


def base(time_ns, process, thread, address):
    return b"B" + struct.pack("<QIIQ", time_ns, process, thread, address)


def lost(count):
    return b"L" + struct.pack("<QQ", 0, count)


def summary(**values):
    return b"E" + text(json.dumps(values))


def events(*records):
    return chunk(b"EVNT", b"".join(records))
