"""
Idea:     the GPU's library for numpy's users: cupyx.scipy.ndimage.gaussian_filter, a kernel for each direction.
Changed:  not ours; the copies to and from the device are in its end-to-end time, its kernel time is by CUDA events. It rounds
          down between the directions and at the end: 3 levels away with three channels.
Expect:   ten times the time of cuda/v1.2: it reads every sample again for each tap, in doubles.
Result:   its kernels take 4.7 times the time of cuda/v2.0; v1.2 is not beside it (results/h200/blur/blur_3840x2160_peers.json).
"""
from on_gpu import OnGpu

LIBRARY, PACKAGE = "cupyx.scipy.ndimage", "cupy-cuda13x"
TOLERANCE = 4


def setup(ndimage, case):
    def filtered(picture):
        flat = (0,) * (picture.ndim - 2)  # not across channels
        sigma, radius = (case.params["sigma"],) * 2 + flat, (case.params["ksize"] // 2,) * 2 + flat
        return ndimage.gaussian_filter(picture, sigma, mode="nearest", radius=radius)

    return OnGpu(lambda cupy: filtered)
