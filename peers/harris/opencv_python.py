"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.cornerHarris.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"
DECLINES = "harris_opencv_declines"
TOLERANCE = 1e-5


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    size, k = case.params["size"], case.params["k"]
    return lambda inputs, outputs: cv2.cornerHarris(inputs[0], size, 3, k, outputs[0], cv2.BORDER_REFLECT_101)
