"""
Idea:     what a scientist types next: skimage.feature.corner_harris, whose window is a Gaussian, in doubles with scipy's filters.
Changed:  not ours; zeros surround its pictures, so it gets one that is reflected beyond its sides. Its Gaussian of standard
          deviation 1 has nine taps where ours has the five of a binomial row: compared away from the border, to a tenth of the largest.
Expect:   slower than cpu/serial's gradients and window on one thread: eleven filters, each with a pass over 8 bytes a pixel.
"""
LIBRARY, PACKAGE = "skimage.feature", "scikit-image"
DECLINES = "harris_skimage_declines"
TOLERANCE = 0.1
INTERIOR = True

BORDER = 6  # the Gaussian's four pixels and the gradient's one, and one to spare


def setup(feature, case):
    import numpy

    k, scale = case.params["k"], 4.0**-4  # its Sobel weights add up to 8 as ours do, but only 255 is divided out

    def run(inputs, outputs):
        picture = numpy.pad(inputs[0], BORDER, mode="reflect")
        response = feature.corner_harris(picture, method="k", k=k, sigma=1)
        outputs[0][...] = scale * response[BORDER:-BORDER, BORDER:-BORDER]

    return run
