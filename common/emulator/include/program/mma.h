/*
 * mma.h: nvcuda::wmma. A fragment is the whole matrix in each lane: which lane of a GPU holds what is not said by CUDA,
 * so that no program may rely on it. Sums are float, or int for bytes, in the order of k.
 */
#ifndef EMULATED_MMA_H
#define EMULATED_MMA_H

#include "program/cuda_fp16.h"

namespace nvcuda::wmma
{

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision
{
struct tf32;
}

template <class Use, int m, int n, int k> struct fragment_shape;
template <int m, int n, int k> struct fragment_shape<matrix_a, m, n, k> {
    static constexpr int rows = m, columns = k;
};
template <int m, int n, int k> struct fragment_shape<matrix_b, m, n, k> {
    static constexpr int rows = k, columns = n;
};
template <int m, int n, int k> struct fragment_shape<accumulator, m, n, k> {
    static constexpr int rows = m, columns = n;
};

template <class T> struct fragment_element {
    typedef T type;
};
template <> struct fragment_element<precision::tf32> {
    typedef float type;
};

template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment : fragment_shape<Use, m, n, k> {
    typedef typename fragment_element<T>::type element_type;
    static constexpr int num_elements = fragment::rows * fragment::columns, num_storage_elements = num_elements;
    element_type x[num_elements]; /* row by row */
};

template <class Use, int m, int n, int k, class T, class Layout, class Value>
void fill_fragment(fragment<Use, m, n, k, T, Layout> &its, Value value)
{
    for (auto &x : its.x)
        x = value;
}

/* A collective: all lanes of the warp meet, which a lane alone in a branch would not notice otherwise. */
inline void all_lanes(const char *file, int line)
{
    __syncwarp(0xffffffffu, file, line);
}

template <class Fragment, class T> void load(Fragment &its, const T *from, unsigned stride, bool by_rows)
{
    for (int i = 0; i < Fragment::rows; i++)
        for (int j = 0; j < Fragment::columns; j++)
            its.x[i * Fragment::columns + j] = by_rows ? from[i * stride + j] : from[j * stride + i];
}

template <class Use, int m, int n, int k, class T, class Layout, class U>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &its, const U *from, unsigned stride,
                      const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    all_lanes(file, line);
    load(its, from, stride, std::is_same_v<Layout, row_major>);
}

template <int m, int n, int k, class T, class U>
void load_matrix_sync(fragment<accumulator, m, n, k, T> &its, const U *from, unsigned stride, layout_t layout,
                      const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    all_lanes(file, line);
    load(its, from, stride, layout == mem_row_major);
}

/* Each lane stores its rows, so that each element is written once. */
template <int m, int n, int k, class T, class U>
void store_matrix_sync(U *to, const fragment<accumulator, m, n, k, T> &its, unsigned stride, layout_t layout,
                       const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    all_lanes(file, line);
    for (int i = 0; i < m * n; i++)
        if ((unsigned)i % 32 == emulated::self->lane)
            to[layout == mem_row_major ? i / n * stride + i % n : i % n * stride + i / n] = its.x[i];
    all_lanes(file, line);
}

template <int m, int n, int k, class A, class LA, class B, class LB, class C, class D>
void mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, A, LA> &a,
              const fragment<matrix_b, m, n, k, B, LB> &b, const fragment<accumulator, m, n, k, C> &c, bool = false,
              const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    typedef std::conditional_t<std::is_integral_v<A>, int, std::conditional_t<std::is_same_v<A, double>, double, float>>
        Sum;
    Sum left[m * k], right[k * n];

    all_lanes(file, line);
    for (int i = 0; i < m * k; i++)
        left[i] = (Sum)a.x[i];
    for (int i = 0; i < k * n; i++)
        right[i] = (Sum)b.x[i];
    for (int i = 0; i < m; i++) {
        Sum sums[n];

        for (int j = 0; j < n; j++)
            sums[j] = (Sum)c.x[i * n + j];
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++)
                sums[j] += left[i * k + l] * right[l * n + j];
        for (int j = 0; j < n; j++)
            d.x[i * n + j] = (D)sums[j];
    }
}

} /* namespace nvcuda::wmma */

#endif
