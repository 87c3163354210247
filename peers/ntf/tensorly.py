"""
Idea:     what a scientist types: tensorly.decomposition.non_negative_parafac on numpy arrays, from the contract's start.
Changed:  not ours: it forms the Khatri-Rao product and unfolds the tensor anew for each factor, three matrix products an
          iteration. It has no damped updates and no end at a share of the error, and declines these.
Expect:   matrix products of OpenBLAS, but unfolding copies the tensor twice an iteration: 58 ms for 24 x 24 x 16,520, K = 16.
"""
LIBRARY, PACKAGE = "tensorly.decomposition", "tensorly"
DECLINES = "ntf_tensorly_declines"


def start(numpy, params, side, mode):
    """ntf_start() of a whole factor."""
    rank, seed = int(params["rank"]), int(params["seed"])
    if seed == 0:
        return numpy.ones((side, rank), numpy.float32)
    row, k = numpy.arange(side, dtype=numpy.uint64)[:, None], numpy.arange(rank, dtype=numpy.uint64)
    z = numpy.uint64((seed << 40) + ((mode + 1) << 38)) + (row << numpy.uint64(7)) + k
    z = (z + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    z ^= z >> numpy.uint64(31)
    share = (z >> numpy.uint64(41)).astype(numpy.float32) * numpy.float32(2**-23)
    return numpy.float32(0.0625) + numpy.float32(0.9375) * share


def setup(decomposition, case):
    import numpy
    import tensorly

    rank, iterations = int(case.params["rank"]), int(case.params["iterations"])

    def run(inputs, outputs):
        approx, u, v, w, errors = outputs
        tensor = numpy.atleast_3d(inputs[0]).astype(numpy.float32, copy=False)
        factors = [start(numpy, case.params, side, mode) for mode, side in enumerate(tensor.shape)]
        result, found = decomposition.non_negative_parafac(
            tensor, rank, n_iter_max=iterations, init=(numpy.ones(rank, numpy.float32), factors), tol=1e-300,
            cvg_criterion="abs_rec_error", return_errors=True)
        for target, factor in zip((u, v, w), result.factors, strict=True):
            target.reshape(factor.shape)[...] = factor
        found = [float(error) for error in found]  # it ends early where two errors are equal
        errors.reshape(-1)[...] = found + [found[-1]] * (iterations - len(found))
        if approx is not None:
            approx[...] = tensorly.cp_to_tensor(result).reshape(approx.shape)

    return run
