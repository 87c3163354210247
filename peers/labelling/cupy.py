"""
Idea:     the GPU's library for numpy's users: cupyx.scipy.ndimage.label, a union-find kernel, then a numbering in order.
Changed:  not ours; the copies to and from the device are in its end-to-end time, its kernel time is by CUDA events.
Expect:   slower than cuda/v1.2: it sorts the roots, to number components in order.
"""
from labels import normalise  # noqa: F401

from peer import Missing

LIBRARY, PACKAGE = "cupyx.scipy.ndimage", "cupy-cuda13x"
DECLINES = "labelling_labels_only"


class Worker:
    def __init__(self, ndimage, case):
        import cupy

        try:
            self.begin, self.end = cupy.cuda.Event(), cupy.cuda.Event()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise Missing(f"CuPy finds no GPU: {error}") from None
        eight = case.params["connectivity"] == 8
        self.structure = cupy.asarray([[eight, 1, eight], [1, 1, 1], [eight, 1, eight]], dtype=cupy.int8)
        self.cupy, self.ndimage, self.device_seconds = cupy, ndimage, None

    def run(self, inputs, outputs):
        mask = self.cupy.asarray(inputs[0])
        self.begin.record()
        labels, _ = self.ndimage.label(mask, self.structure)
        self.end.record()
        labels.get(out=outputs[0])
        self.device_seconds = 1e-3 * self.cupy.cuda.get_elapsed_time(self.begin, self.end)


setup = Worker
