"""Inputs that a study makes: pictures of a seeded generator, or the file that a script of the ladder writes.

A picture is binary PGM, u8, 0 and 255. The same words give the same bytes on every machine. An own shape of picture is
a script in the ladder's folder: { script = "cpu/hough/scene.py", lines = 5 } runs
    python3 cpu/hough/scene.py --width W --height H --lines 5 OUT
"""

import os
import random
import subprocess
import sys

from expressions import StudyError


def noise(width, height, density, granularity, seed):
    """Squares of granularity² pixels, each foreground with probability density (in steps of 1/65536)."""
    generator = random.Random(int(seed))
    threshold, cell = round(density * 65536), int(granularity)
    columns = -(-width // cell)
    rows = []
    while len(rows) < height:
        low, high = generator.randbytes(columns), generator.randbytes(columns)
        coarse = bytes(255 if a + 256 * b < threshold else 0 for a, b in zip(low, high))
        row = bytearray(columns * cell)
        for offset in range(cell):
            row[offset::cell] = coarse
        rows += [bytes(row[:width])] * cell
    return b"".join(rows[:height])


def squares(width, height, count, edge, stride, seed):
    """`count` squares of `edge`² pixels, on places of a grid of `stride` pixels, chosen at random; with stride 0 anywhere where
    they touch no other."""
    edge, stride, count = int(edge), int(stride), int(count)
    if stride == 0:
        return _scattered(width, height, count, edge, random.Random(int(seed)))
    places = [(x, y) for y in range(0, height - edge + 1, stride) for x in range(0, width - edge + 1, stride)]
    if count > len(places):
        raise StudyError(f"squares: {count} do not fit; {len(places)} do")
    picture = bytearray(width * height)
    for x, y in random.Random(int(seed)).sample(places, count):
        for row in range(y, y + edge):
            picture[row * width + x : row * width + x + edge] = b"\xff" * edge
    return bytes(picture)


def _scattered(width, height, count, edge, generator):
    """A place is tried as often as there are pixels; then the picture is full. Corners may not touch either."""
    picture, row = bytearray(width * height), b"\xff" * edge
    for _ in range(width * height):
        if count == 0:
            return bytes(picture)
        x, y = generator.randrange(width - edge + 1), generator.randrange(height - edge + 1)
        left, right = max(x - 1, 0), min(x + edge, width - 1)
        # A square that touches this one covers a pixel of the frame around it or of its corners' rows.
        if any(255 in picture[v * width + left : v * width + right + 1] for v in {max(y - 1, 0), y, y + edge - 1, min(y + edge, height - 1)}):
            continue
        for v in range(y, y + edge):
            picture[v * width + x : v * width + x + edge] = row
        count -= 1
    raise StudyError(f"squares: {count} more do not fit")


def checkerboard(width, height, cell):
    """Squares of cell² pixels, every second one foreground."""
    cell = int(cell)
    even = bytes(255 if (x // cell) % 2 == 0 else 0 for x in range(width))
    odd = bytes(255 - value for value in even)
    return b"".join(odd if (y // cell) % 2 else even for y in range(height))


def comb(width, height):
    """Teeth, every second column, that only the last row joins."""
    teeth = bytes(255 if x % 2 == 0 else 0 for x in range(width))
    return teeth * (height - 1) + b"\xff" * width


def snake(width, height):
    """One line that fills every second row and turns at the ends."""
    full, left, right = b"\xff" * width, b"\xff" + bytes(width - 1), bytes(width - 1) + b"\xff"
    return b"".join(full if y % 2 == 0 else right if y % 4 == 1 else left for y in range(height))


def spiral(width, height):
    """One line of 1 pixel from the corner inwards, with 1 pixel between its turns."""
    picture = bytearray(width * height)
    left, top, right, bottom = 0, 0, width - 1, height - 1
    x = y = 0
    picture[0] = 255

    def to(nx, ny):
        nonlocal x, y
        while (x, y) != (nx, ny):
            x += (nx > x) - (nx < x)
            y += (ny > y) - (ny < y)
            picture[y * width + x] = 255

    while left <= right and top <= bottom:
        to(right, y)
        to(x, bottom)
        if right - left < 2 or bottom - top < 2:
            break
        to(left, y)
        top += 2
        if bottom - top < 1:
            break
        to(x, top)
        left, right, bottom = left + 2, right - 2, bottom - 2
        if right - left < 1:
            break
    return bytes(picture)


def maze(width, height, seed):
    """Each inner post of a grid of 2 pixels grows a wall to the left or upwards (Hall's binary tree): one component."""
    generator = random.Random(int(seed))
    picture = bytearray(width * height)
    for y in range(0, height, 2):
        choices = generator.randbytes(-(-width // 2))
        for x in range(0, width, 2):
            picture[y * width + x] = 255
            up = y > 0 and (x == 0 or choices[x // 2] & 1)
            if up:
                picture[(y - 1) * width + x] = 255
            elif x > 0:
                picture[y * width + x - 1] = 255
    return bytes(picture)


def constant(width, height, value):
    """Every sample the same."""
    return bytes([int(value)]) * (width * height)


# name: (function, {argument: (default, least, most)})
MAKERS = {
    "noise": (noise, {"density": (0.5, 0, 1), "granularity": (1, 1, 1 << 16), "seed": (1, 0, 1 << 62)}),
    "squares": (
        squares,
        {"count": (100, 0, 1 << 30), "edge": (20, 1, 1 << 16), "stride": (30, 0, 1 << 16), "seed": (1, 0, 1 << 62)},
    ),
    "checkerboard": (checkerboard, {"cell": (1, 1, 1 << 16)}),
    "comb": (comb, {}),
    "snake": (snake, {}),
    "spiral": (spiral, {}),
    "maze": (maze, {"seed": (1, 0, 1 << 62)}),
    "constant": (constant, {"value": (255, 0, 255)}),
}


def check(where, name, arguments):
    """The arguments with their defaults; raises StudyError for a wrong one."""
    if name not in MAKERS:
        raise StudyError(f"{where}: nothing makes '{name}'; there are {', '.join(MAKERS)}")
    known = MAKERS[name][1]
    for key, value in arguments.items():
        if key not in known:
            raise StudyError(f"{where}: {name} has no '{key}'; it takes {', '.join(known) or 'nothing'}")
        if type(value) not in (int, float) or not known[key][1] <= value <= known[key][2]:
            raise StudyError(f"{where}: {name}: {key} = {value}: must be {known[key][1]} to {known[key][2]}")
    return {key: arguments.get(key, default) for key, (default, _, _) in known.items()}


def write(path, name, width, height, arguments):
    """Writes the picture under a temporary name first, so that a stop leaves no half of it."""
    data = MAKERS[name][0](width, height, **arguments)
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (width, height) + data)
    os.replace(temporary, path)


def run_script(path, script, width, height, arguments):
    stem, extension = os.path.splitext(path)
    temporary = f"{stem}.tmp{extension}"
    command = [sys.executable, "-B", script, "--width", str(width), "--height", str(height)]
    for key, value in arguments.items():
        command += [f"--{key}", str(value)]
    process = subprocess.run(command + [temporary], capture_output=True, text=True, check=False)
    if process.returncode != 0 or not os.path.exists(temporary):
        raise StudyError(f"{script}: {(process.stderr.strip().splitlines() or ['wrote nothing'])[-1][:200]}")
    os.replace(temporary, path)
