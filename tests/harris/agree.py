"""Compares Harris responses and corners of two libraries, picture by picture.

usage: agree.py OURS THEIRS QUALITY GRAY

OURS has NAME.npy (responses) and NAME.csv (corners), THEIRS the same, GRAY the pictures as NAME.png of 8 bits. Responses may
differ by 1.5e-6 of the largest: OpenCV's are made of rounded products. Where the two differ most, in 100 pixels of each picture,
both are held against the response in whole numbers of any size: ours must be within 2e-7 of the largest. A corner that only one
list has must be a tie: within its 3 x 3 pixels lies another with the same response, or its response is the threshold, both to
2e-6 of the largest. Prints a line for each picture whose responses differ by more than 1e-6; the last line is "N pictures,
N corners, N ties, responses within D (ours within D of the exact ones, theirs within D)"; the status is 1 if anything was wrong.
"""

import array
import csv
import heapq
import operator
import os
import struct
import sys
import zlib

MOST_DIFFERENT = 100
SIZE = 3  # of the box; Sobel's weights add up to 4 on each side


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10 : 10 + length], {})  # a dictionary of constants, as numpy writes it
    assert header["descr"] == "<f4" and not header["fortran_order"], path
    height, width = header["shape"]
    values = array.array("f")
    values.frombytes(data[10 + length :])
    return width, height, values


def read_gray(path):
    """Rows of a PNG of 8 bits and one channel."""
    with open(path, "rb") as file:
        data = file.read()
    place, packed = 8, b""
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        chunk = data[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", chunk)
            assert form == [8, 0, 0, 0, 0], path
        packed += chunk if kind == b"IDAT" else b""
        place += length + 12
    raw, above, rows = zlib.decompress(packed), bytes(width), []
    for y in range(height):
        how, row = raw[y * (width + 1)], bytearray(raw[y * (width + 1) + 1 : (y + 1) * (width + 1)])
        left = corner = 0
        if how == 1:
            for x, value in enumerate(row):
                row[x] = left = value + left & 255
        elif how == 2:
            row = bytes(value & 255 for value in map(operator.add, row, above))
        elif how == 3:
            for x, up in enumerate(above):
                row[x] = left = row[x] + (left + up >> 1) & 255
        elif how == 4:  # Paeth: of left, up and corner the one nearest to left + up - corner, in this order
            for x, up in enumerate(above):
                to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                near = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
                row[x] = left = row[x] + near & 255
                corner = up
        rows.append(row)
        above = row
    return rows


def exact_response(rows, x, y):
    """25 (a c - b^2) - (a + c)^2 in whole numbers, then scaled and rounded once: k is 1 / 25."""
    width, height = len(rows[0]), len(rows)

    def inside(i, count):
        while not 0 <= i < count and count > 1:
            i = -i if i < 0 else 2 * (count - 1) - i
        return i if count > 1 else 0

    def at(u, v):
        return rows[inside(v, height)][inside(u, width)]

    a = b = c = 0
    for j in range(y - SIZE // 2, y + SIZE // 2 + 1):
        for i in range(x - SIZE // 2, x + SIZE // 2 + 1):
            u, v = inside(i, width), inside(j, height)
            gx = sum(weight * (at(u + 1, v + k) - at(u - 1, v + k)) for k, weight in ((-1, 1), (0, 2), (1, 1)))
            gy = sum(weight * (at(u + k, v + 1) - at(u + k, v - 1)) for k, weight in ((-1, 1), (0, 2), (1, 1)))
            a, b, c = a + gx * gx, b + gx * gy, c + gy * gy
    return (25 * (a * c - b * b) - (a + c) ** 2) / (25 * (255 * 4 * SIZE) ** 4)


def read_corners(path):
    with open(path, newline="") as file:
        return {(int(float(row["x"])), int(float(row["y"]))) for row in csv.DictReader(file)}


def main():
    ours, theirs, quality, gray = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    pictures = corners = ties = failed = 0
    most = our_most = their_most = 0.0
    for name in sorted(os.listdir(ours)):
        if not name.endswith(".npy"):
            continue
        width, height, values = read_npy(os.path.join(ours, name))
        other = read_npy(os.path.join(theirs, name))[2]
        largest = max(max(values), -min(values))
        apart = list(map(abs, map(operator.sub, values, other)))
        worst = max(apart)
        pictures += 1
        rows, our_worst, their_worst = read_gray(os.path.join(gray, name[:-3] + "png")), 0.0, 0.0
        for place in heapq.nlargest(MOST_DIFFERENT, range(len(apart)), key=apart.__getitem__):
            exact = exact_response(rows, place % width, place // width)
            our_worst, their_worst = max(our_worst, abs(values[place] - exact)), max(their_worst, abs(other[place] - exact))
        if largest:
            our_most, their_most = max(our_most, our_worst / largest), max(their_most, their_worst / largest)
        if our_worst > 2e-7 * largest:
            failed += 1
            print(f"{name}: ours are {our_worst / largest:.2g} of the largest from the exact ones")
        if worst > 1e-6 * largest:
            print(f"{name}: responses differ by {worst / largest:.2g} of the largest; from the exact ones ours by "
                  f"{our_worst / largest:.2g}, theirs by {their_worst / largest:.2g}")
        most = max(most, worst / largest if largest else worst)
        if worst > 1.5e-6 * largest:
            failed += 1
            print(f"{name}: that is more than 1.5e-6")
        table = name[:-3] + "csv"
        mine, yours = (read_corners(os.path.join(folder, table)) for folder in (ours, theirs))
        threshold, near = quality * max(values), 2e-6 * largest
        corners += len(mine)
        for x, y in mine ^ yours:
            own = values[y * width + x]
            around = [values[v * width + u] for v in range(max(y - 1, 0), min(y + 2, height))
                      for u in range(max(x - 1, 0), min(x + 2, width)) if (u, v) != (x, y)]
            if abs(own - threshold) <= near or any(abs(value - own) <= near for value in around):
                ties += 1
            else:
                failed += 1
                print(f"{name}: the corner at ({x}, {y}) is only in {'ours' if (x, y) in mine else 'theirs'}")
    print(f"{pictures} pictures, {corners} corners, {ties} ties, responses within {most:.2g} (ours within {our_most:.2g} of the "
          f"exact ones, theirs within {their_most:.2g})")
    return failed != 0 or pictures == 0


if __name__ == "__main__":
    sys.exit(main())
