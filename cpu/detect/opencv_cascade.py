"""Runs one of OpenCV's cascades on a folder of pictures and writes what it finds in the form of `rungs run detect`, for
score.py: the yardstick whose answers are others than ours, so that no check could compare the two.

    opencv_cascade.py CASCADE.xml PICTURES/ DETECTIONS/ [--scale 1.1] [--neighbours 1] [--threads N]
                      [--repeat N]

Detections of at least --neighbours windows are kept, with OpenCV's level weights as scores, so that score.py can draw the
whole curve. With --repeat each picture is searched so often, and the shortest time is printed.
"""
import argparse
import pathlib
import sys
import time

try:
    import cv2
except ImportError:
    sys.exit("opencv_cascade: the Python package cv2 is not here: pip install 'opencv-python-headless<5'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cascade")
    parser.add_argument("pictures", type=pathlib.Path)
    parser.add_argument("detections", type=pathlib.Path)
    parser.add_argument("--scale", type=float, default=1.1)
    parser.add_argument("--neighbours", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.threads:
        cv2.setNumThreads(arguments.threads)
    cascade = cv2.CascadeClassifier()
    if not cascade.load(arguments.cascade):
        sys.exit(f"opencv_cascade: {arguments.cascade}: not a cascade")
    arguments.detections.mkdir(parents=True, exist_ok=True)
    for path in sorted(arguments.pictures.iterdir()):
        picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        if picture is None:
            continue
        seconds = []
        for _ in range(arguments.repeat):
            begin = time.perf_counter()
            boxes, _, weights = cascade.detectMultiScale3(
                picture, scaleFactor=arguments.scale, minNeighbors=arguments.neighbours, outputRejectLevels=True)
            seconds.append(time.perf_counter() - begin)
        rows = [f"{x},{y},{w},{h},{float(score):.6g}\n" for (x, y, w, h), score in zip(boxes, weights)]
        (arguments.detections / f"{path.stem}.csv").write_text("x,y,width,height,score\n" + "".join(rows))
        if arguments.repeat > 1:
            height, width = picture.shape
            print(f"{path.name} {width}x{height} {1e3 * min(seconds):.3f} ms, {len(rows)} detections")


main()
