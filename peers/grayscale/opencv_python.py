"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.cvtColor.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release, bound by memory.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"
TOLERANCE = 1


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    return lambda inputs, outputs: cv2.cvtColor(inputs[0], cv2.COLOR_RGB2GRAY, dst=outputs[0])
