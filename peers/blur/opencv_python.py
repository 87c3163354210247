"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.GaussianBlur with the same kernel and border.
Changed:  not ours; called through numpy, in a process of its own.
Expect:   as fast as peer/opencv of the same release: a call from Python costs microseconds.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"
TOLERANCE = 1


def setup(cv2, case):
    cv2.setNumThreads(case.threads)
    size, sigma = (case.params["ksize"],) * 2, case.params["sigma"]

    def run(inputs, outputs):
        return cv2.GaussianBlur(inputs[0], size, sigma, dst=outputs[0], borderType=cv2.BORDER_REPLICATE)

    return run
