"""
Idea:     kornia-rs, a library in Rust: its canny, which is OpenCV's to the bit.
Changed:  not ours; it gives back a picture of its own, which is copied after the clock has stopped.
Expect:   twice the time of OpenCV's Canny: the same passes by a compiler's vectors.
Result:   3.2 times the time of OpenCV's, slower than cpu/branchless (results/h200/edges/edges_1920x1080_peers.json).
"""
import os

LIBRARY, PACKAGE = "kornia_rs.imgproc", "kornia-rs"
DECLINES = "edges_opencv_declines"
NO_LOW = -1  # edges.h


def setup(imgproc, case):
    os.environ["RAYON_NUM_THREADS"] = str(case.threads)  # read when its threads start, at the first call
    low, high = case.params["low"], case.params["high"]
    low = high if low in (NO_LOW, "none") else low
    return lambda inputs, outputs: imgproc.canny(inputs[0][..., None], float(low), float(high))[..., 0]
