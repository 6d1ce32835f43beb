"""Pictures: soft shapes with grain, as PPM, PGM, or frames of a moving one in planar YUV 4:2:0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value

_TEXTURE = 512


def _texture(stream: Stream) -> list[bytes]:
    """A square that repeats without a seam, interpolated between random knots, with grain."""
    knots, step = 16, _TEXTURE // 16
    grid = [[stream.below(200) for _ in range(knots)] for _ in range(knots)]
    rows: list[bytes] = []
    for y in range(_TEXTURE):
        upper, lower, down = grid[y // step], grid[(y // step + 1) % knots], y % step
        left = [(a * (step - down) + b * down) // step for a, b in zip(upper, lower, strict=True)]
        grain = stream.data(_TEXTURE)
        rows.append(
            bytes(
                (left[x // step] * (step - x % step) + left[(x // step + 1) % knots] * (x % step))
                // step
                + (grain[x] >> 3)
                for x in range(_TEXTURE)
            )
        )
    return rows


def _plane(texture: list[bytes], width: int, height: int, right: int, down: int) -> bytes:
    """A window on the endless texture."""
    right %= _TEXTURE
    copies = (right + width) // _TEXTURE + 1
    return b"".join(
        (texture[(y + down) % _TEXTURE] * copies)[right : right + width] for y in range(height)
    )


def _interleaved(planes: list[bytes]) -> bytes:
    found = bytearray(3 * len(planes[0]))
    for place, plane in enumerate(planes):
        found[place::3] = plane
    return bytes(found)


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream = Stream(seed, "image")
    width, height = int(parameters["width"]), int(parameters["height"])
    form = str(parameters["form"])
    textures = [_texture(stream) for _ in range(1 if form == "pgm" else 3)]
    if form == "pgm":
        yield f"P5\n{width} {height}\n255\n".encode()
        yield _plane(textures[0], width, height, 0, 0)
    elif form == "ppm":
        yield f"P6\n{width} {height}\n255\n".encode()
        yield _interleaved([_plane(texture, width, height, 0, 0) for texture in textures])
    else:
        for frame in range(int(parameters["frames"])):
            yield _plane(textures[0], width, height, 3 * frame, frame)
            for texture in textures[1:]:
                yield _plane(texture, width // 2, height // 2, 3 * frame // 2, frame // 2)


EXTENSION = Generator(
    name="image",
    description="A picture of `width` x `height` in the `form` pgm, ppm or, as moving `frames`, "
    "yuv.",
    make=_make,
    parameters={"width": 640, "height": 480, "form": "ppm", "frames": 10},
)
