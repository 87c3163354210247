"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.threshold.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release, bound by memory.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"
OTSU = -1  # threshold.h


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    value = case.params["value"]
    kind = cv2.THRESH_BINARY | (cv2.THRESH_OTSU if value == OTSU else 0)
    return lambda inputs, outputs: cv2.threshold(inputs[0], value, 255, kind, dst=outputs[0])[1]
