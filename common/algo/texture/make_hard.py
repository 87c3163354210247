"""Makes hard.npy, the model of texture and barcode that `rungs check` tries besides the trained one: 96 centroids, three for
each lane of a warp; sixteen pairs of equals among the first 64, each pair in two lanes, so that the first must win ties; and
shares (column 256) that differ wherever the lower six bits of two labels are the same.

usage: make_hard.py FILE
"""

import struct
import sys

K, BINS, PAIRS = 96, 256, 16


def following(state):
    return state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1


def main():
    state = 1
    rows = []
    for label in range(K):
        row = [0.0] * BINS
        for i in range(30):  # the same numbers in other bins: no centroid is nearest for its length
            state = following(state)
            while row[state >> 56] or not 1 < (state >> 56).bit_count() < 7:  # noise has the others too often
                state = following(state)
            row[state >> 56] = 1 + i % 6 * 1.25
        rows.append(row + [label / (K - 1)])
    for label in range(PAIRS):
        rows[3 * PAIRS - 1 - label][:BINS] = rows[label][:BINS]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({K}, {BINS + 1}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(sys.argv[1], "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f"<{BINS + 1}f", *row))


main()
