/*
 * cooperative_groups.h: groups of threads: block, tiles of a warp, coalesced threads, grid. Made of the barriers, masks
 * and shuffles that kernels have without it. coalesced_threads() is the calling thread alone, which CUDA allows: which
 * lanes are active together is not said. Groups that span warps, but for blocks and grids, are not there.
 */
#ifndef EMULATED_COOPERATIVE_GROUPS_H
#define EMULATED_COOPERATIVE_GROUPS_H

#include <cuda_runtime.h>
#include <string.h>

#define _CG_HAS_CPP11
#define EMULATED_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace cooperative_groups
{

namespace details
{
inline unsigned rank_in_block()
{
    return emulated::self->place;
}

inline unsigned block_size()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

inline unsigned lowest(unsigned count)
{
    return count >= 32 ? ~0u : (1u << count) - 1;
}

/* The lanes of this warp that exist. */
inline unsigned warp_lanes()
{
    return lowest(block_size() - rank_in_block() / 32 * 32);
}

/* The lane that is number `rank` of the mask. */
inline unsigned lane_of(unsigned mask, unsigned rank)
{
    for (; rank > 0 && mask != 0; rank--)
        mask &= mask - 1;
    return mask != 0 ? (unsigned)__builtin_ctz(mask) : emulated::self->lane;
}

/* Any size by shuffles of words. */
template <class T, class Shuffle> T by_words(T value, Shuffle shuffle)
{
    unsigned words[(sizeof(T) + 3) / 4] = {};

    memcpy(words, &value, sizeof(T));
    for (unsigned &word : words)
        word = shuffle(word);
    memcpy(&value, words, sizeof(T));
    return value;
}
} /* namespace details */

/* Lanes of one warp, or the whole block. */
class thread_group
{
  public:
    unsigned mask = 0; /* 0: the block */

    unsigned long long size() const
    {
        return mask != 0 ? (unsigned)__builtin_popcount(mask) : details::block_size();
    }
    unsigned long long num_threads() const
    {
        return size();
    }
    unsigned long long thread_rank() const
    {
        return mask != 0 ? (unsigned)__builtin_popcount(mask & ((1u << emulated::self->lane) - 1))
                         : details::rank_in_block();
    }
    void sync(EMULATED_SITE) const
    {
        if (mask != 0)
            __syncwarp(mask, file, line);
        else
            __syncthreads(file, line);
    }
    bool is_valid() const
    {
        return true;
    }
};

class thread_block : public thread_group
{
  public:
    unsigned size() const
    {
        return details::block_size();
    }
    unsigned num_threads() const
    {
        return size();
    }
    unsigned thread_rank() const
    {
        return details::rank_in_block();
    }
    dim3 group_index() const
    {
        return blockIdx;
    }
    dim3 thread_index() const
    {
        return threadIdx;
    }
    dim3 group_dim() const
    {
        return blockDim;
    }
    dim3 dim_threads() const
    {
        return blockDim;
    }
    struct arrival_token {
    };
    void sync(EMULATED_SITE) const
    {
        __syncthreads(file, line);
    }
};

inline thread_block this_thread_block()
{
    return {};
}

/* Some lanes of a warp, by their mask; ranks count the lanes that are in it. */
class coalesced_group : public thread_group
{
  public:
    coalesced_group() = default;
    explicit coalesced_group(unsigned lanes)
    {
        mask = lanes;
    }
    unsigned size() const
    {
        return (unsigned)__builtin_popcount(mask);
    }
    unsigned num_threads() const
    {
        return size();
    }
    unsigned thread_rank() const
    {
        return (unsigned)thread_group::thread_rank();
    }
    unsigned meta_group_size() const
    {
        return 1;
    }
    unsigned meta_group_rank() const
    {
        return 0;
    }
    template <class T> T shfl(T value, int rank, EMULATED_SITE) const
    {
        const int lane = (int)details::lane_of(mask, (unsigned)rank % size());

        return details::by_words(value, [=, this](unsigned w) { return __shfl_sync(mask, w, lane, 32, file, line); });
    }
    template <class T> T shfl_up(T value, unsigned delta, EMULATED_SITE) const
    {
        return shfl(value, thread_rank() < delta ? (int)thread_rank() : (int)(thread_rank() - delta), file, line);
    }
    template <class T> T shfl_down(T value, unsigned delta, EMULATED_SITE) const
    {
        return shfl(value, (int)(thread_rank() + delta < size() ? thread_rank() + delta : thread_rank()), file, line);
    }
    int any(int predicate, EMULATED_SITE) const
    {
        return __any_sync(mask, predicate, file, line);
    }
    int all(int predicate, EMULATED_SITE) const
    {
        return __all_sync(mask, predicate, file, line);
    }
    /* Bit r is the lane of rank r. */
    unsigned ballot(int predicate, EMULATED_SITE) const
    {
        return packed(__ballot_sync(mask, predicate, file, line));
    }
    template <class T> unsigned match_any(T value, EMULATED_SITE) const
    {
        return packed(__match_any_sync(mask, value, file, line));
    }
    template <class T> unsigned match_all(T value, int &predicate, EMULATED_SITE) const
    {
        return packed(__match_all_sync(mask, value, &predicate, file, line));
    }

  private:
    unsigned packed(unsigned lanes) const
    {
        unsigned result = 0, rank = 0;

        for (unsigned left = mask; left != 0; left &= left - 1, rank++)
            result |= (lanes >> __builtin_ctz(left) & 1) << rank;
        return result;
    }
};

inline coalesced_group coalesced_threads()
{
    return coalesced_group(1u << emulated::self->lane);
}

/* Tiles of `width` threads that follow each other, width a power of two up to 32. */
template <unsigned width, class Parent = void> class thread_block_tile : public coalesced_group
{
  public:
    static_assert(width <= 32 && (width & (width - 1)) == 0, "the emulator has tiles of 1, 2, 4, 8, 16 or 32 threads");
    thread_block_tile() = default;
    template <class Other> thread_block_tile(const thread_block_tile<width, Other> &other) : coalesced_group(other.mask)
    {
    }
    template <class Group> explicit thread_block_tile(const Group &)
    {
        mask = details::lowest(width) << emulated::self->lane / width * width & details::warp_lanes();
    }
    static constexpr unsigned size()
    {
        return width;
    }
    static constexpr unsigned num_threads()
    {
        return width;
    }
    unsigned thread_rank() const
    {
        return emulated::self->lane % width;
    }
    unsigned meta_group_size() const
    {
        return (details::block_size() + width - 1) / width;
    }
    unsigned meta_group_rank() const
    {
        return details::rank_in_block() / width;
    }
#define EMULATED_TILE_SHUFFLE(name, function, U)                                                                       \
    template <class T> T name(T value, U argument, EMULATED_SITE) const                                                \
    {                                                                                                                  \
        return details::by_words(                                                                                      \
            value, [=, this](unsigned w) { return function(mask, w, argument, (int)width, file, line); });             \
    }
    EMULATED_TILE_SHUFFLE(shfl, __shfl_sync, int)
    EMULATED_TILE_SHUFFLE(shfl_up, __shfl_up_sync, unsigned)
    EMULATED_TILE_SHUFFLE(shfl_down, __shfl_down_sync, unsigned)
    EMULATED_TILE_SHUFFLE(shfl_xor, __shfl_xor_sync, int)
#undef EMULATED_TILE_SHUFFLE
};

template <unsigned width, class Parent> thread_block_tile<width, Parent> tiled_partition(const Parent &parent)
{
    return thread_block_tile<width, Parent>(parent);
}

inline thread_group tiled_partition(const thread_group &, unsigned width)
{
    thread_group tile;

    if (width > 32 || (width & (width - 1)) != 0)
        emulated::fault("tiled_partition(): a tile of %u threads; the emulator has 1, 2, 4, 8, 16 or 32", width);
    tile.mask = details::lowest(width) << emulated::self->lane / width * width & details::warp_lanes();
    return tile;
}

template <class Group> coalesced_group binary_partition(const Group &group, bool predicate, EMULATED_SITE)
{
    const unsigned true_lanes = __ballot_sync(group.mask, predicate, file, line);

    return coalesced_group(predicate ? true_lanes : group.mask & ~true_lanes);
}

template <class Group, class T> coalesced_group labeled_partition(const Group &group, T label, EMULATED_SITE)
{
    return coalesced_group(__match_any_sync(group.mask, label, file, line));
}

/* All blocks of a cooperative launch, or of any for what does not wait. */
class grid_group
{
  public:
    unsigned long long size() const
    {
        return num_blocks() * details::block_size();
    }
    unsigned long long num_threads() const
    {
        return size();
    }
    unsigned long long num_blocks() const
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    unsigned long long block_rank() const
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    unsigned long long thread_rank() const
    {
        return block_rank() * details::block_size() + details::rank_in_block();
    }
    dim3 group_dim() const
    {
        return gridDim;
    }
    bool is_valid() const
    {
        return emulated::grid_can_meet();
    }
    void sync(EMULATED_SITE) const
    {
        emulated::grid_barrier(file, line);
    }
};

inline grid_group this_grid()
{
    return {};
}

template <class Group> void sync(const Group &group, EMULATED_SITE)
{
    group.sync(file, line);
}

inline unsigned long long thread_rank(const thread_group &group)
{
    return group.thread_rank();
}

inline unsigned long long group_size(const thread_group &group)
{
    return group.size();
}

template <class Group, class Function, class... Arguments>
void invoke_one(const Group &group, Function function, Arguments... arguments)
{
    if (group.thread_rank() == 0)
        function(arguments...);
}

/* ------------------------------------------------------------------------------------------- reduce, scan, copies */

#define EMULATED_OPERATION(name, expression)                                                                           \
    template <class T = void> struct name {                                                                            \
        template <class U> U operator()(U a, U b) const                                                                \
        {                                                                                                              \
            return (U)(expression);                                                                                    \
        }                                                                                                              \
    };
EMULATED_OPERATION(plus, a + b)
EMULATED_OPERATION(less, b < a ? b : a)
EMULATED_OPERATION(greater, a < b ? b : a)
EMULATED_OPERATION(bit_and, a &b)
EMULATED_OPERATION(bit_or, a | b)
EMULATED_OPERATION(bit_xor, a ^ b)
#undef EMULATED_OPERATION

template <class Group, class T, class Operation>
T reduce(const Group &group, T value, Operation operation, EMULATED_SITE)
{
    T result = group.shfl(value, 0, file, line);

    for (int rank = 1; rank < (int)__builtin_popcount(group.mask); rank++)
        result = operation(result, group.shfl(value, rank, file, line));
    return result;
}

template <class Group, class T, class Operation>
T inclusive_scan(const Group &group, T value, Operation operation, EMULATED_SITE)
{
    T result = group.shfl(value, 0, file, line);

    for (int rank = 1; rank < (int)__builtin_popcount(group.mask); rank++) {
        const T next = group.shfl(value, rank, file, line);

        if (rank <= (int)group.thread_rank())
            result = operation(result, next);
    }
    return result;
}

template <class Group, class T> T inclusive_scan(const Group &group, T value, EMULATED_SITE)
{
    return inclusive_scan(group, value, plus<T>(), file, line);
}

template <class Group, class T> T exclusive_scan(const Group &group, T value, EMULATED_SITE)
{
    return inclusive_scan(group, value, plus<T>(), file, line) - value;
}

/* Done at once, by one thread of the group; wait() is where all may see it. */
template <class Group> void memcpy_async(const Group &group, void *to, const void *from, size_t bytes)
{
    for (size_t i = group.thread_rank(); i < bytes; i += group.size())
        ((char *)to)[i] = ((const char *)from)[i];
}

template <class Group> void wait(const Group &group, EMULATED_SITE)
{
    group.sync(file, line);
}

template <unsigned stages, class Group> void wait_prior(const Group &group, EMULATED_SITE)
{
    group.sync(file, line);
}

} /* namespace cooperative_groups */

#undef EMULATED_SITE

#endif
