"""What labelling's peers share: components numbered in whatever order become those of common/algo/labelling.h."""


def normalise(inputs, outputs):
    """Each label becomes 1 + the raster index of its component's first pixel; the background becomes 0."""
    import numpy

    labels = outputs[0].reshape(-1)
    first = numpy.zeros(int(labels.max()) + 1, numpy.int32)
    # Of several assignments to one element the last one stays, which backwards is the first pixel.
    first[labels[::-1]] = numpy.arange(labels.size, 0, -1, dtype=numpy.int32)
    first[0] = 0
    outputs[0][...] = first[outputs[0]]
