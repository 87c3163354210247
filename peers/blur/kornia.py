"""
Idea:     kornia-rs, a library in Rust: its gaussian_blur, separable and with the border replicated as ours.
Changed:  not ours; its weights are rounded otherwise: up to 9 levels away with 3 taps, 2 with more.
Expect:   ten times the time of OpenCV's GaussianBlur.
Result:   8.8 times the time of OpenCV's (results/h200/blur/blur_3840x2160_peers.json).
"""
import os

LIBRARY, PACKAGE = "kornia_rs.imgproc", "kornia-rs"
TOLERANCE = 9


def setup(imgproc, case):
    os.environ["RAYON_NUM_THREADS"] = str(case.threads)  # read when its threads start, at the first call
    size, sigma = (case.params["ksize"],) * 2, (float(case.params["sigma"]),) * 2

    def run(inputs, outputs):
        gray = inputs[0].ndim == 2
        result = imgproc.gaussian_blur(inputs[0][..., None] if gray else inputs[0], size, sigma)
        return result[..., 0] if gray else result

    return run
