#!/usr/bin/env python3
"""A tensor of known rank under noise, f32, none negative: what studies and tests of ntf look at.

usage: tensor.py --width S --height R --depth T --rank K --noise SHARE --seed N OUT.npy

Each component is 0 in a third of its places. The noise is uniform, from 0 to SHARE of the largest sample that the components
can have. The same words give the same bytes everywhere.
"""

import argparse
import array
import operator
import random
import sys


def main():
    parser = argparse.ArgumentParser(add_help=False)
    for name in ("width", "height", "depth", "rank", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--noise", type=float, required=True)
    parser.add_argument("out")
    wanted = parser.parse_args()
    if min(wanted.width, wanted.height, wanted.depth, wanted.rank) < 1 or wanted.noise < 0:
        sys.exit("sides and rank are 1 at least, the noise is not negative")
    generator = random.Random(wanted.seed)
    u, v, w = ([[max(1.5 * generator.random() - 0.5, 0) for _ in range(wanted.rank)] for _ in range(side)]
               for side in (wanted.height, wanted.width, wanted.depth))
    noise = wanted.noise * wanted.rank
    samples = array.array("f")
    for row in u:
        for column in v:
            weights = [a * b for a, b in zip(row, column)]
            samples.extend(sum(map(operator.mul, weights, entry)) + noise * generator.random() for entry in w)
    if sys.byteorder == "big":
        samples.byteswap()
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({wanted.height}, {wanted.width}, {wanted.depth}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(wanted.out, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + samples.tobytes())


if __name__ == "__main__":
    main()
