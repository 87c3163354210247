"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.threshold with THRESH_OTSU.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release; it also writes the mask, which nobody asked for.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    mask = case.inputs[0].copy()

    def run(inputs, outputs):
        outputs[0][0] = cv2.threshold(inputs[0], 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU, dst=mask)[0]

    return run
