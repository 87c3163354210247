/* Small programs with one fault each, and correct ones that look odd. The argument names the case; --list prints all,
 * each with what its message must contain ("" for a correct one). A line that a message must name ends in a comment,
 * the case's name and a number: tests/test_faults.sh finds it by that. */
#include <stdio.h>
#include <string.h>

enum { N = 64 };
static int *ints, *out; /* N of each on the device (of `out` twice as many), cleared; *out is 0 at the end */
static unsigned *count; /* a ticket */

struct fault_case {
    const char *name, *message; /* "" for a correct one */
    void (*run)();
};

template <class Cases> int run_case(int argc, char **argv, const Cases &cases)
{
    int wrong = 0;

    if (argc < 2)
        return 2;
    cudaMalloc(&ints, N * sizeof(int));
    cudaMalloc(&out, 2 * N * sizeof(int));
    cudaMalloc(&count, 2 * sizeof(unsigned));
    cudaMemset(ints, 0, N * sizeof(int));
    cudaMemset(out, 0, 2 * N * sizeof(int));
    cudaMemset(count, 0, 2 * sizeof(unsigned));
    for (const auto &one : cases)
        if (strcmp(argv[1], "--list") == 0) {
            printf("%s\t%s\n", one.name, one.message);
        } else if (strcmp(argv[1], one.name) == 0) {
            one.run();
            cudaDeviceSynchronize();
            if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
                printf("%s\n", cudaGetErrorString(error));
                return 1;
            }
            if (out != nullptr)
                cudaMemcpy(&wrong, out, sizeof(int), cudaMemcpyDeviceToHost);
            cudaFree(ints);
            cudaFree(out);
            cudaFree(count);
            if (wrong != 0)
                printf("a wrong result\n");
            return wrong;
        }
    return strcmp(argv[1], "--list") == 0 ? 0 : 2;
}
