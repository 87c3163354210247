"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.kmeans.
Changed:  not ours; as peer/opencv it starts from centres of its own, so any result passes and only the time counts.
Expect:   as fast as peer/opencv of the same release.
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"
DECLINES = "kmeans_all_rows"
TOLERANCE = 1e300


def setup(cv2, case):
    import numpy

    cv2.setNumThreads(case.threads)
    k, iterations, attempts = (int(case.params[name]) for name in ("k", "iterations", "attempts"))
    stop = (cv2.TERM_CRITERIA_COUNT, iterations, 0)

    def run(inputs, outputs):
        rows = inputs[0].reshape(-1, inputs[0].shape[-1]) if inputs[0].ndim == 3 else inputs[0]
        rows = numpy.ascontiguousarray(rows, numpy.float32)
        inertia, labels, centres = cv2.kmeans(rows, k, None, stop, attempts, cv2.KMEANS_RANDOM_CENTERS)
        outputs[0][...] = centres
        outputs[1][...] = labels.reshape(outputs[1].shape)
        outputs[2][...] = inertia

    return run
