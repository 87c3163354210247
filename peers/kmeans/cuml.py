"""
Idea:     the yardstick on the GPU: RAPIDS' cuml.cluster.KMeans (NVIDIA), whose assignments are matrix products of f32 with the smallest
          of each row found on the way.
Changed:  not ours. It starts from the rows of start=rows, where asked for them, else by the scalable k-means++, and makes at most as
          many updates of all rows, with tol=0. Rows go to the GPU and labels come back within the time. Any result passes, and only
          the time counts.
Expect:   slower than the products in bytes of cuda/v2.1 and later: an iteration reads four bytes a feature and is several launches.
"""
LIBRARY, PACKAGE = "cuml.cluster", "cuml-cu12"
DECLINES = "kmeans_all_rows"
TOLERANCE = 1e300


def setup(cluster, case):
    import numpy

    k, iterations, attempts = (int(case.params[name]) for name in ("k", "iterations", "attempts"))
    rows_start = case.params["start"] in ("rows", "1", 1)

    def run(inputs, outputs):
        rows = inputs[0].reshape(-1, inputs[0].shape[-1]) if inputs[0].ndim == 3 else inputs[0]
        rows = numpy.ascontiguousarray(rows, numpy.float32)
        start = rows[numpy.arange(k) * len(rows) // k] if rows_start else "scalable-k-means++"
        found = cluster.KMeans(n_clusters=k, init=start, n_init=1 if rows_start else attempts, max_iter=iterations, tol=0,
                               random_state=1, output_type="numpy").fit(rows)  # fmt: skip
        outputs[0][...] = found.cluster_centers_
        outputs[1][...] = found.labels_.reshape(outputs[1].shape)
        outputs[2][...] = found.inertia_

    return run
