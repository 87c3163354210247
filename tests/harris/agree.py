"""Compares Harris responses and corners of two libraries, picture by picture.

usage: agree.py OURS THEIRS QUALITY

OURS has NAME.npy (responses) and NAME.csv (corners), THEIRS the same. Responses may differ by 1.5e-6 of the largest: ours are
exact, OpenCV's made of rounded products. A corner that only one list has must be a tie: within its 3 x 3 pixels lies another
with the same response, or its response is the threshold, both to 2e-6 of the largest. The last line is "N pictures, N
corners, N ties, responses within D"; the status is 1 if anything else was found.
"""

import array
import csv
import operator
import os
import struct
import sys


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


def read_corners(path):
    with open(path, newline="") as file:
        return {(int(float(row["x"])), int(float(row["y"]))) for row in csv.DictReader(file)}


def main():
    ours, theirs, quality = sys.argv[1], sys.argv[2], float(sys.argv[3])
    pictures = corners = ties = failed = 0
    most = 0.0
    for name in sorted(os.listdir(ours)):
        if not name.endswith(".npy"):
            continue
        width, height, values = read_npy(os.path.join(ours, name))
        other = read_npy(os.path.join(theirs, name))[2]
        largest = max(max(values), -min(values))
        worst = max(map(abs, map(operator.sub, values, other)))
        pictures += 1
        most = max(most, worst / largest if largest else worst)
        if worst > 1.5e-6 * largest:
            failed += 1
            print(f"{name}: responses differ by {worst / largest:.2g} of the largest")
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
    print(f"{pictures} pictures, {corners} corners, {ties} ties, responses within {most:.2g}")
    return failed != 0 or pictures == 0


if __name__ == "__main__":
    sys.exit(main())
