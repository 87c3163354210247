"""
Idea:     the same by whole arrays, where numpy is here.
Changed:  not ours; called in a process of its own.
Expect:   nothing.
"""
LIBRARY, PACKAGE = "numpy", "numpy"


def setup(numpy, case):
    def run(inputs, outputs):
        picture, (table, mask, moments) = inputs[0].astype(int), outputs
        high, wide = picture.shape
        mask[...] = 0
        if high > 2 and wide > 2:
            shifted = [picture[1 + dy:high - 1 + dy, 1 + dx:wide - 1 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]
            depth = numpy.min(shifted, axis=0) - picture[1:-1, 1:-1]
            mask[1:-1, 1:-1] = numpy.where(depth >= 2, 255, 0)
        y, x = numpy.nonzero(mask)
        table[...] = 0
        for row, (at_y, at_x) in enumerate(list(zip(y, x))[:len(table) - 1], 1):
            table[row] = at_x, at_y, depth[at_y - 1, at_x - 1]
        table[0, 0] = len(x)
        x, y = x.astype(float), y.astype(float)
        moments[...] = [[(x * x).sum(), (x * y).sum()], [(x * y).sum(), (y * y).sum()]]

    return run
