"""
Idea:     what a scientist types: skimage.transform.hough_line, which gives the whole accumulator.
Changed:  not ours; its rows are columns, and it counts in steps of rho = 1 from the other corner, in doubles.
          Doubles round other votes up than floats do, one in some thousands, and at 45 degrees all points of a diagonal together: a
          cell of the photograph of 1920x1080 has 73 votes more or less.
Expect:   slower than cpu/serial: its accumulator is as large, and a point's cells lie in 180 rows of it.
Result:   the time of cpu/serial (results/cpu2/hough/hough_1920x1080_accumulator.json).
"""
LIBRARY, PACKAGE = "skimage.transform", "scikit-image"
TOLERANCE = 256
DECLINES = "hough_accumulator_only"


def setup(transform, case):
    import numpy

    steps = case.params["theta_steps"]
    theta = numpy.arange(steps) * numpy.pi / steps

    def run(inputs, outputs):
        accumulator, _, distances = transform.hough_line(inputs[0], theta)
        centre = (outputs[1].shape[1] - 1) // 2
        outputs[1][...] = 0
        outputs[1][:, centre + int(distances[0]) : centre + int(distances[-1]) + 1] = accumulator.T

    return run
