"""Sound: a few tones that swell and fade over soft noise, as a WAV file of 16 bits."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value

_CHUNK = 1 << 12
_FULL = 1 << 16


def _tone(phase: int) -> int:
    """A parabola for each half wave, close to a sine, from -16384 to 16384, in whole numbers."""
    half = phase & (_FULL // 2 - 1)
    value = half * (_FULL // 2 - half) >> 14
    return value if phase & _FULL // 2 else -value


def _chunks(stream: Stream, samples: int, rate: int, channels: int) -> Iterator[bytes]:
    tones = [[60 + stream.below(2000), stream.below(_FULL)] for _ in range(4 * channels)]
    for begin in range(0, samples, _CHUNK):
        count = min(_CHUNK, samples - begin)
        noise = stream.short_numbers(count * channels)
        for tone in tones:
            if stream.below(12) == 0:
                tone[0] = 60 + stream.below(2000)
        steps = [(tone[0] * _FULL // rate, tone) for tone in tones]
        data = array("h")
        for at in range(count):
            for channel in range(channels):
                value = (noise[at * channels + channel] >> 8) - 128
                for step, tone in steps[channel::channels]:
                    tone[1] = (tone[1] + step) & (_FULL - 1)
                    value += _tone(tone[1]) >> 2
                data.append(max(-32768, min(32767, value)))
        if struct.pack("=h", 1) != struct.pack("<h", 1):
            data.byteswap()
        yield data.tobytes()


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    rate, channels = int(parameters["rate"]), int(parameters["channels"])
    samples = int(float(parameters["seconds"]) * rate)
    size = 2 * samples * channels
    form = (1, channels, rate, 2 * rate * channels, 2 * channels, 16)
    yield b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, *form)
    yield b"data" + struct.pack("<I", size)
    yield from _chunks(Stream(seed, "audio"), samples, rate, channels)


EXTENSION = Generator(
    name="audio",
    description="`seconds` of sound in `channels` at `rate` a second.",
    make=_make,
    parameters={"seconds": 10.0, "channels": 2, "rate": 44_100},
)
