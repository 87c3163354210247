/*
 * nvtx.cu: calls, steps and phases as NVTX ranges, so that nsys and ncu show the names that Rungs uses. The headers
 * come with the CUDA Toolkit and need no library; without a tool attached a range costs a test of a function pointer.
 */
#if defined(__NVCC__) && __has_include(<nvtx3/nvToolsExt.h>)

#include <nvtx3/nvToolsExt.h>

#include "common/trace/mark.h"

static void begin_range(enum mark_level level, const char *name)
{
    (void)level;
    nvtxRangePushA(name);
}

static void end_range(enum mark_level level, const char *name)
{
    (void)level, (void)name;
    nvtxRangePop();
}

__attribute__((constructor)) static void install_ranges(void)
{
    static const struct mark_listener ranges = {begin_range, end_range};

    mark_listen(&ranges);
}

#endif
