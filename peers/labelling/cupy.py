"""
Idea:     the GPU's library for numpy's users: cupyx.scipy.ndimage.label, a union-find kernel, then a numbering in order.
Changed:  not ours; the copies to and from the device are in its end-to-end time, its kernel time is by CUDA events.
Expect:   slower than cuda/v1.2: it sorts the roots, to number components in order.
"""
from labels import normalise  # noqa: F401
from on_gpu import OnGpu

LIBRARY, PACKAGE = "cupyx.scipy.ndimage", "cupy-cuda13x"
DECLINES = "labelling_labels_only"


def setup(ndimage, case):
    def prepare(cupy):
        eight = case.params["connectivity"] == 8
        structure = cupy.asarray([[eight, 1, eight], [1, 1, 1], [eight, 1, eight]], dtype=cupy.int8)
        return lambda mask: ndimage.label(mask, structure)[0]

    return OnGpu(prepare)
