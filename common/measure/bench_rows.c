#include "common/measure/bench.h"

const struct bench_row *bench_find(const struct bench *bench, const struct version *version)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].version == version)
            return &bench->rows[i];
    return NULL;
}

const struct bench_row *bench_reference(const struct bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].reference)
            return &bench->rows[i];
    return NULL;
}

const struct bench_row *bench_below(const struct bench *bench, const struct bench_row *row)
{
    const struct version *below = version_below(row->version);
    const struct bench_row *found = below ? bench_find(bench, below) : NULL;

    return found && found->outcome == BENCH_TIMED ? found : NULL;
}

bool bench_any_failed(const struct bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        if (bench->rows[i].outcome == BENCH_FAILED)
            return true;
    return false;
}

struct bench_ratio bench_ratio(const struct statistics *a, const struct statistics *b)
{
    struct bench_ratio ratio = {0, false};

    if (a->count > 0 && b->count > 0 && b->median > 0) {
        ratio.times = a->median / b->median;
        ratio.differs = statistics_differ(a, b);
    }
    return ratio;
}

double bench_limit_fraction(const struct bench_row *row)
{
    return row->limit > 0 && row->kernel.count > 0 ? row->limit / row->kernel.median : 0;
}
