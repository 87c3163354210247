"""
Idea:     what a scientist types next: skimage.measure.label, which compares values instead of testing for zero.
Changed:  not ours; its own numbering becomes ours after the clock has stopped.
Expect:   slower than cpu/serial, and slower than peer/scipy on masks: it makes a mask of the same values first.
"""
from labels import normalise  # noqa: F401

LIBRARY, PACKAGE = "skimage.measure", "scikit-image"
DECLINES = "labelling_labels_only"


def setup(measure, case):
    connectivity = 2 if case.params["connectivity"] == 8 else 1
    return lambda inputs, outputs: measure.label(inputs[0] > 0, background=0, connectivity=connectivity)
