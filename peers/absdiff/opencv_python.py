"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.absdiff.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release, bound by memory.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    return lambda inputs, outputs: cv2.absdiff(inputs[0], inputs[1], dst=outputs[0])
