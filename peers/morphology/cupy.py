"""
Idea:     the GPU's library for numpy's users: cupyx.scipy.ndimage.grey_dilation and its relatives, with the element as footprint.
Changed:  not ours; the copies to and from the device are in its end-to-end time, its kernel time is by CUDA events.
Expect:   as fast as cuda/v1.0: a thread compares every pixel of the element.
Result:   its kernels take 1.3 times the time of cuda/v1.0 (results/h200/morphology/morphology_3840x2160.json).
"""
from on_gpu import OnGpu

LIBRARY, PACKAGE = "cupyx.scipy.ndimage", "cupy-cuda13x"


def setup(ndimage, case):
    calls = {"dilate": ndimage.grey_dilation, "erode": ndimage.grey_erosion, "open": ndimage.grey_opening, "close": ndimage.grey_closing}
    call, radius = calls[case.params["op"]], case.params["ksize"] // 2
    steps = range(-radius, radius + 1)
    reaches = [radius if case.params["shape"] == "square" else round((radius**2 - j**2) ** 0.5) for j in steps]

    def prepare(cupy):
        element = cupy.asarray([[abs(i) <= reach for i in steps] for reach in reaches])
        return lambda picture: call(picture, footprint=element, mode="nearest")

    return OnGpu(prepare)
