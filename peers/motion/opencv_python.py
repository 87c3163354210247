#!/usr/bin/env python3
"""The moving-object detector through OpenCV's Python package, timed as `rungs bench motion` times its versions: frames in
memory, from the frame to the boxes, one frame after the other, median of many samples. For machines that have the package
but not OpenCV's headers, so that peers/motion/opencv.cpp cannot be built there: run both, one after the other.

usage: opencv_motion.py FOLDER WIDTHxHEIGHT [--frames N] [--threads N] [--seconds S] [--into FILE]

FOLDER holds the frames as pictures; they are scaled to cover the size and cut, as the bench does it. FILE is what `rungs
bench motion --json` wrote on the same machine just before: a row peer/opencv-python is added to its versions.
"""
import argparse
import glob
import json
import os
import sys
import time

try:
    import cv2
    import numpy
except ImportError as error:
    sys.exit(f"opencv_motion.py: {error}: pip install opencv-python")

STEPS = ["grayscale", "blur", "absdiff", "threshold", "close", "open", "labelling"]


def load(folder, width, height, count):
    frames = []
    for path in sorted(glob.glob(os.path.join(folder, "*")))[:count]:
        frame = cv2.imread(path)
        if frame is None:
            refuse(path, "is no picture")
        scale = max(width / frame.shape[1], height / frame.shape[0])
        size = (round(frame.shape[1] * scale), round(frame.shape[0] * scale))
        frame = cv2.resize(frame, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        top, left = (size[1] - height) // 2, (size[0] - width) // 2
        frames.append(numpy.ascontiguousarray(frame[top:top + height, left:left + width]))
    return frames


def refuse(path, why):
    print(f"opencv_motion.py: {path}: {why}", file=sys.stderr)
    sys.exit(2)


def read_results(path, wanted):
    try:
        with open(path) as file:
            document = json.load(file)
    except (OSError, ValueError) as error:
        refuse(path, getattr(error, "strerror", None) or "no JSON")
    if not isinstance(document, dict) or document.get("schema") != "rungs-video-results":
        refuse(path, "is no results file of rungs bench motion")
    for key, value in wanted.items():
        if document.get(key) != value:
            refuse(path, f"{key} is {document.get(key)} there and {value} here")
    return document


def add(path, document, row):
    document["versions"] = [version for version in document["versions"] if version["id"] != row["id"]] + [row]
    with open(path + ".new", "w") as file:
        json.dump(document, file, indent=2, ensure_ascii=False)
        file.write("\n")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("size")
    parser.add_argument("--frames", type=int, default=124)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--into", metavar="FILE")
    options = parser.parse_args()
    try:
        width, height = map(int, options.size.split("x"))
    except ValueError:
        refuse(options.size, "is no size like 1920x1080")
    cv2.setNumThreads(options.threads)
    frames = load(options.folder, width, height, options.frames)
    if not frames:
        refuse(options.folder, "holds no pictures")
    document = options.into and read_results(options.into, {"width": width, "height": height, "frames": len(frames),
                                                            "threads": options.threads})
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (15, 15))

    # Every call gets the memory of its result, as from the frame before: new arrays cost page faults.
    shape = (height, width)
    gray, blur, difference, mask, closed, opened = (numpy.empty(shape, numpy.uint8) for _ in range(6))
    labels = numpy.empty(shape, numpy.int32)

    def smooth(frame, result):
        cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY, dst=gray)
        cv2.GaussianBlur(gray, (15, 15), 2.6, dst=result, borderType=cv2.BORDER_REPLICATE)
        return result

    background = smooth(frames[0], numpy.empty(shape, numpy.uint8))

    def detect(frame, times=None):
        clock = [time.perf_counter()] if times is not None else None

        def mark():
            if clock is not None:
                clock.append(time.perf_counter())

        cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY, dst=gray)
        mark()
        cv2.GaussianBlur(gray, (15, 15), 2.6, dst=blur, borderType=cv2.BORDER_REPLICATE)
        mark()
        cv2.absdiff(blur, background, dst=difference)
        mark()
        cv2.threshold(difference, 25, 255, cv2.THRESH_BINARY, dst=mask)
        mark()
        cv2.morphologyEx(mask, cv2.MORPH_CLOSE, disk, dst=closed)
        mark()
        cv2.morphologyEx(closed, cv2.MORPH_OPEN, disk, dst=opened)
        mark()
        found = cv2.connectedComponentsWithStats(opened, labels=labels, connectivity=8, ltype=cv2.CV_32S)
        mark()
        if times is not None:
            for step, name in enumerate(STEPS):
                times[name] = times.get(name, 0) + clock[step + 1] - clock[step]
        return found[0] - 1

    counts = [detect(frame) for frame in frames]  # warms up as well
    samples, end = [], time.perf_counter() + options.seconds
    while time.perf_counter() < end or len(samples) < 3:
        start, done = time.perf_counter(), 0
        while done == 0 or time.perf_counter() - start < 0.02:
            detect(frames[(len(samples) + done) % len(frames)])
            done += 1
        samples.append((time.perf_counter() - start) / done)
    times = {}
    for frame in frames:
        detect(frame, times)
    q1, median, q3 = numpy.percentile(samples, [25, 50, 75])
    steps = {name: seconds / len(frames) for name, seconds in times.items()}
    print(f"OpenCV {cv2.__version__} (Python), {width}x{height}, {options.threads} threads, {len(frames)} frames")
    for name, seconds in steps.items():
        print(f"  {name:12} {1e6 * seconds:10.1f} us")
    print(f"  FPS: {1 / median:.0f}   {1e6 * median:.1f} us a frame, quartiles {1e6 * q1:.1f} .. {1e6 * q3:.1f}")
    print(f"  components: {sum(counts)} in all")
    if options.into:
        add(options.into, document, {
            "id": "peer/opencv-python", "path": "peers/motion/opencv_python.py", "library": f"OpenCV {cv2.__version__}",
            "outcome": "timed", "reference": False, "frames_verified": None, "why": None,
            "end_to_end": {"median": median, "q1": q1, "q3": q3, "n": len(samples)},
            "steps": [{"name": name, "seconds": seconds} for name, seconds in steps.items()],
            "frames_in_steps": len(frames), "memory": None, "over_serial": None, "over_below": None})


main()
