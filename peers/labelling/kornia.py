"""
Idea:     kornia-rs, a library in Rust whose labelling was published as ahead of OpenCV's: two scans over runs.
Changed:  not ours; its own numbering becomes ours after the clock has stopped.
Expect:   on one thread as fast as OpenCV on photographs, and twice as fast where runs are long.
"""
import os

from labels import normalise  # noqa: F401

LIBRARY, PACKAGE = "kornia_rs.imgproc", "kornia-rs"
DECLINES = "labelling_labels_only"


def setup(imgproc, case):
    os.environ["RAYON_NUM_THREADS"] = str(case.threads)  # read when its threads start, at the first call
    connectivity = case.params["connectivity"]

    def run(inputs, outputs):
        labels = imgproc.connected_components(inputs[0][..., None], connectivity)[1]
        return labels[..., 0]

    return run
