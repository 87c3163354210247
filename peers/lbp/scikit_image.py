"""
Idea:     what a scientist types: skimage.feature.local_binary_pattern, then numpy's bincount over patches.
Changed:  not ours. Its diagonal neighbours are sampled between pixels and those across the border of a patch are the picture's
          own, so its codes are others: any histogram passes, and only the time counts. The patches are counted after the
          clock has stopped.
Expect:   70 ns a pixel: each of eight neighbours is an interpolation in double precision, on one thread.
"""
LIBRARY, PACKAGE = "skimage.feature", "scikit-image"
TOLERANCE = 1024


class Worker:
    def __init__(self, feature, case):
        self.feature, self.patch, self.codes = feature, int(case.params["patch"]), None

    def run(self, inputs, outputs):
        self.codes = self.feature.local_binary_pattern(inputs[0], 8, 1, "default")

    def finish(self, outputs):
        import numpy

        rows, columns, bins = outputs[0].shape
        padded = numpy.zeros((rows * self.patch, columns * self.patch), numpy.int64)
        padded[: self.codes.shape[0], : self.codes.shape[1]] = self.codes
        patches = padded.reshape(rows, self.patch, columns, self.patch).transpose(0, 2, 1, 3).reshape(rows * columns, -1)
        flat = patches + bins * numpy.arange(rows * columns)[:, None]
        outputs[0][...] = numpy.bincount(flat.ravel(), minlength=rows * columns * bins).reshape(outputs[0].shape)


setup = Worker
