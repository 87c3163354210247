"""
Idea:     the yardstick where only OpenCV's Python package is here: cv2.HoughLinesWithAccumulator.
Changed:  not ours; called through numpy, in a process of its own. Before OpenCV 5 its rho is half a cell low where the number
          of cells is even, as peer/opencv says.
Expect:   as fast as peer/opencv of the same release, on one thread.
Result:   29 times the time of cpu/bins with 16 threads; peer/opencv is not beside it (results/h200/hough/hough_1920x1080_peers.json).
"""
LIBRARY, PACKAGE = "cv2", "opencv-python"
DECLINES = "hough_opencv_declines"


def setup(cv2, case):
    import math

    cv2.setNumThreads(case.threads)
    rho, theta, threshold, edge = case.params["rho"], math.pi / case.params["theta_steps"], case.params["threshold"], case.params["edge"]
    sobel = case.params["edges"] in (1, "sobel")

    def run(inputs, outputs):
        points = inputs[0]
        if sobel:
            gradients = [cv2.Sobel(points, cv2.CV_16S, dx, 1 - dx, ksize=3, borderType=cv2.BORDER_REPLICATE) for dx in (1, 0)]
            sums = cv2.add(cv2.absdiff(gradients[0], 0), cv2.absdiff(gradients[1], 0))
            points = cv2.compare(sums, edge, cv2.CMP_GT)
        lines = cv2.HoughLinesWithAccumulator(points, rho, theta, threshold)
        found = 0 if lines is None else len(lines)
        kept = min(found, len(outputs[0]) - 1)
        outputs[0][...] = 0
        outputs[0][0, 0] = found
        if kept:
            outputs[0][1 : kept + 1] = lines.reshape(-1, 3)[:kept]

    return run
