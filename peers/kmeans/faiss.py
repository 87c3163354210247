"""
Idea:     the yardstick of those who cluster millions of vectors: faiss' Kmeans (Meta), whose assignments are matrix products of f32
          and the smallest of each row, on the CPU.
Changed:  not ours. It starts from the rows of start=rows, where asked for them, else from rows drawn by chance, and makes as many
          updates, of all rows; an empty cluster takes half of another. Any result passes, and only the time counts.
Expect:   as fast as scikit-learn, whose assignments are the same products.
"""
LIBRARY, PACKAGE = "faiss", "faiss-cpu"
DECLINES = "kmeans_all_rows"
TOLERANCE = 1e300


def setup(faiss, case):
    import numpy

    k, iterations, attempts = (int(case.params[name]) for name in ("k", "iterations", "attempts"))
    rows_start = case.params["start"] in ("rows", "1", 1)
    faiss.omp_set_num_threads(case.threads)

    def run(inputs, outputs):
        rows = inputs[0].reshape(-1, inputs[0].shape[-1]) if inputs[0].ndim == 3 else inputs[0]
        rows = numpy.ascontiguousarray(rows, numpy.float32)
        start = rows[numpy.arange(k) * len(rows) // k] if rows_start else None
        clusters = faiss.Kmeans(rows.shape[1], k, niter=iterations, nredo=1 if rows_start else attempts, seed=1,
                                min_points_per_centroid=1, max_points_per_centroid=len(rows))  # fmt: skip
        clusters.train(rows, init_centroids=start)
        distances, labels = clusters.assign(rows)
        outputs[0][...] = clusters.centroids
        outputs[1][...] = labels.reshape(outputs[1].shape)
        outputs[2][...] = distances.sum()

    return run
