"""
Idea:     what a scientist types: sklearn.cluster.KMeans, Lloyd's algorithm as matrix products of f32.
Changed:  not ours. It starts from the rows of start=rows, where asked for them, and makes as many updates; its means are not
          rounded to 1/64, so that a row at the border of two clusters may have another label: any result passes, and only the
          time counts. tests/test_barcode.sh compares the inertia.
Expect:   7.5 ms an iteration of 47,628 rows of 256 features and 16 centroids with two threads.
"""
LIBRARY, PACKAGE = "sklearn.cluster", "scikit-learn"
TOLERANCE = 1e300


def setup(cluster, case):
    import numpy

    k, iterations, batch = (int(case.params[name]) for name in ("k", "iterations", "batch"))
    rows_start = case.params["start"] in ("rows", "1", 1)

    def run(inputs, outputs):
        rows = inputs[0].reshape(-1, inputs[0].shape[-1]) if inputs[0].ndim == 3 else inputs[0]
        rows = numpy.ascontiguousarray(rows, numpy.float32)
        start = rows[numpy.arange(k) * len(rows) // k] if rows_start else "k-means++"
        attempts = 1 if rows_start else int(case.params["attempts"])
        if batch > 0:
            found = cluster.MiniBatchKMeans(k, init=start, n_init=1, batch_size=batch, random_state=1)
            drawn = numpy.random.default_rng(1)
            for _ in range(iterations):
                found.partial_fit(rows[drawn.integers(0, len(rows), batch)])
            outputs[0][...] = found.cluster_centers_
            outputs[1][...] = found.predict(rows).reshape(outputs[1].shape)
            outputs[2][...] = -found.score(rows)
            return
        found = cluster.KMeans(k, init=start, n_init=attempts, max_iter=iterations, tol=0, algorithm="lloyd", random_state=1).fit(rows)
        outputs[0][...] = found.cluster_centers_
        outputs[1][...] = found.labels_.reshape(outputs[1].shape)
        outputs[2][...] = found.inertia_

    return run
