"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.connectedComponents.
Changed:  not ours; its own numbering becomes ours after the clock has stopped, as for peer/opencv.
Expect:   as fast as peer/opencv of the same release.
"""
from labels import normalise  # noqa: F401

LIBRARY, PACKAGE = "cv2", "opencv-python"
DECLINES = "labelling_labels_only"


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    connectivity = case.params["connectivity"]
    return lambda inputs, outputs: cv2.connectedComponents(inputs[0], outputs[0], connectivity, cv2.CV_32S)[1]
