"""
Idea:     what a scientist types first: scipy.ndimage.label, union-find over runs of pixels, on one thread.
Changed:  not ours; its own numbering becomes ours after the clock has stopped.
Expect:   slower than cpu/serial: it works for any number of dimensions and allocates its lines anew in each call.
"""
from labels import normalise  # noqa: F401

LIBRARY, PACKAGE = "scipy.ndimage", "scipy"
DECLINES = "labelling_labels_only"


def setup(ndimage, case):
    structure = [[1, 1, 1]] * 3 if case.params["connectivity"] == 8 else [[0, 1, 0], [1, 1, 1], [0, 1, 0]]

    def run(inputs, outputs):
        ndimage.label(inputs[0], structure, output=outputs[0])

    return run
