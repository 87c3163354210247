/*
 * version.h: the last line of a version's file, which registers it. registry.h includes this header at its end.
 *
 *     RUNGS_CPU_VERSION(blur)                run(in, out, params)
 *     RUNGS_CPU_VERSION_WITH_STATE(blur)     struct state, run(state, in, out, params), teardown(state)
 *     RUNGS_CUDA_VERSION(blur)               struct state, launch(state, in, out, params, stream) and, where there is
 *                                            something to do, setup(state, in, params) and teardown(state)
 *     RUNGS_CUDA_VERSION_WITH_RUN(blur)      the same and a run(state, in, out, params) of its own, for the rungs whose
 *                                            idea is how a call allocates
 *
 * The functions are static; params is a pointer to struct blur_params. More designated fields of struct version may
 * follow the name.
 */
#ifndef RUNGS_VERSION_H
#define RUNGS_VERSION_H

#define RUNGS_CPU_VERSION(name, ...)                                                                                   \
    static enum status run_erased(void *state, const struct image in[], struct image *out, const void *params)         \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        return run(in, out, (const struct name##_params *)params);                                                     \
    }                                                                                                                  \
    __attribute__((constructor)) static void register_version(void)                                                    \
    {                                                                                                                  \
        static struct version version = {.path = __FILE__, .algorithm_name = #name, .run = run_erased, __VA_ARGS__};   \
        registry_add_version(&version);                                                                                \
    }

#define RUNGS_CPU_VERSION_WITH_STATE(name, ...)                                                                        \
    static enum status run_erased(void *state, const struct image in[], struct image *out, const void *params)         \
    {                                                                                                                  \
        return run((struct state *)state, in, out, (const struct name##_params *)params);                              \
    }                                                                                                                  \
    static void teardown_erased(void *state)                                                                           \
    {                                                                                                                  \
        teardown((struct state *)state);                                                                               \
    }                                                                                                                  \
    __attribute__((constructor)) static void register_version(void)                                                    \
    {                                                                                                                  \
        static struct version version = {.path = __FILE__,                                                             \
                                         .algorithm_name = #name,                                                      \
                                         .state_size = sizeof(struct state),                                           \
                                         .run = run_erased,                                                            \
                                         .teardown = teardown_erased,                                                  \
                                         __VA_ARGS__};                                                                 \
        registry_add_version(&version);                                                                                \
    }

#ifdef __cplusplus
/* What setup() and teardown() are in a .cu file that defines none: whatever the file defines is a better match for a
 * call than the three dots. */
struct version_nothing_to_do {
    operator enum status() const { return STATUS_OK; }
};
inline struct version_nothing_to_do setup(...)
{
    return {};
}
inline struct version_nothing_to_do teardown(...)
{
    return {};
}

/* An argument of any type. A call with these finds whatever setup() a file defines, so that one with other arguments
 * than the contract's is an error instead of being passed over. */
struct version_any_argument {
    template <class T> operator T &() const;
};
template <class Result> inline constexpr bool version_is_defined = true;
template <> inline constexpr bool version_is_defined<struct version_nothing_to_do> = false;

#define VERSION_ANY           version_any_argument()
#define VERSION_DEFINES(call) version_is_defined<decltype(call)>
#define VERSION_DEFINES_ANY(function)                                                                                  \
    (VERSION_DEFINES(function()) || VERSION_DEFINES(function(VERSION_ANY)) ||                                          \
     VERSION_DEFINES(function(VERSION_ANY, VERSION_ANY)) ||                                                            \
     VERSION_DEFINES(function(VERSION_ANY, VERSION_ANY, VERSION_ANY)) ||                                               \
     VERSION_DEFINES(function(VERSION_ANY, VERSION_ANY, VERSION_ANY, VERSION_ANY)))

/* A version's state begins with the file's struct state, whatever follows it. */
#define VERSION_CUDA_FUNCTIONS(name)                                                                                   \
    static enum status setup_erased(void *state, const struct image in[], const void *params)                          \
    {                                                                                                                  \
        const struct name##_params *typed = (const struct name##_params *)params;                                      \
                                                                                                                       \
        static_assert(VERSION_DEFINES(setup((struct state *)state, in, typed)) == VERSION_DEFINES_ANY(setup),          \
                      "setup() must take (struct state *, const struct image in[], const struct " #name "_params *)"); \
        static_assert(VERSION_DEFINES(teardown((struct state *)state)) == VERSION_DEFINES_ANY(teardown),               \
                      "teardown() must take (struct state *)");                                                        \
        return setup((struct state *)state, in, typed);                                                                \
    }                                                                                                                  \
    static enum status launch_erased(void *state, const struct image in[], struct image *out, const void *params,      \
                                     struct CUstream_st *stream)                                                       \
    {                                                                                                                  \
        return launch((struct state *)state, in, out, (const struct name##_params *)params, stream);                   \
    }

/* What run() needs besides, the images on the device, lies behind the file's own state (common/cuda/device_run.h). */
#define RUNGS_CUDA_VERSION(name, ...)                                                                                  \
    VERSION_CUDA_FUNCTIONS(name)                                                                                       \
    struct kept_state {                                                                                                \
        struct state state;                                                                                            \
        struct device_images images;                                                                                   \
    };                                                                                                                 \
    static void teardown_erased(void *state)                                                                           \
    {                                                                                                                  \
        struct kept_state *kept = (struct kept_state *)state;                                                          \
                                                                                                                       \
        teardown(&kept->state);                                                                                        \
        device_images_free(&kept->images);                                                                             \
        *kept = {};                                                                                                    \
    }                                                                                                                  \
    static enum status run_erased(void *state, const struct image in[], struct image *out, const void *params);        \
    static struct version registered_version = {.path = __FILE__,                                                      \
                                                .algorithm_name = #name,                                               \
                                                .state_size = sizeof(struct kept_state),                               \
                                                .run = run_erased,                                                     \
                                                .setup = setup_erased,                                                 \
                                                .launch = launch_erased,                                               \
                                                .teardown = teardown_erased,                                           \
                                                __VA_ARGS__};                                                          \
    static enum status run_erased(void *state, const struct image in[], struct image *out, const void *params)         \
    {                                                                                                                  \
        return device_run(&registered_version, state, &((struct kept_state *)state)->images, in, out, params);         \
    }                                                                                                                  \
    __attribute__((constructor)) static void register_version(void)                                                    \
    {                                                                                                                  \
        registry_add_version(&registered_version);                                                                     \
    }

#define RUNGS_CUDA_VERSION_WITH_RUN(name, ...)                                                                         \
    VERSION_CUDA_FUNCTIONS(name)                                                                                       \
    static void teardown_erased(void *state)                                                                           \
    {                                                                                                                  \
        teardown((struct state *)state);                                                                               \
    }                                                                                                                  \
    static enum status run_erased(void *state, const struct image in[], struct image *out, const void *params)         \
    {                                                                                                                  \
        return run((struct state *)state, in, out, (const struct name##_params *)params);                              \
    }                                                                                                                  \
    __attribute__((constructor)) static void register_version(void)                                                    \
    {                                                                                                                  \
        static struct version version = {.path = __FILE__,                                                             \
                                         .algorithm_name = #name,                                                      \
                                         .state_size = sizeof(struct state),                                           \
                                         .run = run_erased,                                                            \
                                         .setup = setup_erased,                                                        \
                                         .launch = launch_erased,                                                      \
                                         .teardown = teardown_erased,                                                  \
                                         __VA_ARGS__};                                                                 \
        registry_add_version(&version);                                                                                \
    }
#endif /* __cplusplus */

#endif
