#!/usr/bin/env python3
"""How well clusters of histograms tell barcode from the rest, by the boxes that scene.py drew.

usage: judge.py --width W --height H --barcodes N --noise LEVELS --seed S CENTROIDS.csv

Each histogram goes to its nearest centroid. Prints a JSON object: information, what the cluster of a patch says of whether it is
barcode, as a share of what there is to know (mutual information over the entropy of barcode or not: 0 nothing, 1 all of it); clusters,
how many have a patch; inertia, the mean squared distance of a patch to its centroid.
"""

import collections
import csv
import json
import math
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scene  # noqa: E402


def entropy(counts):
    total = sum(counts)
    return -sum(count / total * math.log2(count / total) for count in counts if count)


def nearest(counts, centroids, norms):
    """(distance, cluster): most counts of a patch are 0, so that a product with them alone is quick."""
    present = [(at, count) for at, count in enumerate(counts) if count]
    square = sum(count * count for _, count in present)
    scores = [(norm - 2 * sum(count * c[at] for at, count in present), j) for j, (c, norm) in enumerate(zip(centroids, norms))]
    score, cluster = min(scores)
    return square + score, cluster


def main():
    words = scene.parse()
    histograms, inside = scene.make(words.width, words.height, words.barcodes, words.noise, words.seed)
    with open(words.file, encoding="ascii") as file:
        centroids = [list(map(float, row)) for row in csv.reader(file)]
    norms = [sum(value * value for value in c) for c in centroids]
    found = [nearest(counts, centroids, norms) for counts in histograms]
    joint = collections.Counter((cluster, flag) for (_, cluster), flag in zip(found, inside))
    clusters, flags = collections.Counter(cluster for _, cluster in found), collections.Counter(inside)
    known = entropy(flags.values())
    shared = entropy(clusters.values()) + known - entropy(joint.values())
    answer = {
        "information": shared / known if known else None,
        "clusters": len(clusters),
        "inertia": sum(distance for distance, _ in found) / len(found),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
