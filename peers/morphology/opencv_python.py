"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.morphologyEx.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release: it compares every pixel of a disk.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    operation = getattr(cv2, "MORPH_" + case.params["op"].upper())
    shape = cv2.MORPH_ELLIPSE if case.params["shape"] == "disk" else cv2.MORPH_RECT
    element = cv2.getStructuringElement(shape, (case.params["ksize"],) * 2)
    return lambda inputs, outputs: cv2.morphologyEx(inputs[0], operation, element, dst=outputs[0])
