"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.Canny.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"
DECLINES = "edges_opencv_declines"
NO_LOW = -1  # edges.h


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    low, high = case.params["low"], case.params["high"]
    low = high if low in (NO_LOW, "none") else low
    return lambda inputs, outputs: cv2.Canny(inputs[0], low, high, edges=outputs[0])
