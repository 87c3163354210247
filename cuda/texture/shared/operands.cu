#include "cuda/texture/shared/operands.h"

#include <stdlib.h>

#include "common/cuda/mma.cuh"

enum status texture_operands_create(struct texture_operands *operands, const struct model *model)
{
    const struct image centroids = texture_centroids(model);
    const int groups = (int)ceiling_divide(centroids.height, TEXTURE_GROUP);
    const size_t pieces_bytes = (size_t)groups * TEXTURE_PIECES * 16,
                 norms_bytes = (size_t)groups * TEXTURE_GROUP * sizeof(int);
    uint8_t(*pieces)[32][16] = (uint8_t(*)[32][16])calloc(1, pieces_bytes);
    int *norms = (int *)malloc(norms_bytes);
    enum status status = STATUS_OK;

    if (operands->norms)
        goto out;
    if (!pieces || !norms) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d centroids", centroids.height);
        goto out;
    }
    for (int j = 0; j < groups * TEXTURE_GROUP; j++) {
        norms[j] = j < centroids.height ? 0 : INT32_MAX;
        for (int bin = 0; bin < LBP_BINS && j < centroids.height; bin++) {
            const int c = nearest_fixed(nearest_centroid(&centroids, j)[bin]);
            for (int plane = 0; plane < 2; plane++)
                *mma_element_a(pieces[(j / TEXTURE_GROUP * 2 + plane) * TEXTURE_STEPS + bin / 32], j % TEXTURE_GROUP,
                               bin % 32) = (uint8_t)(c >> 8 * plane);
            norms[j] += c * c;
        }
    }
    operands->groups = groups;
    TRY(device_allocate((void **)&operands->fragments, pieces_bytes));
    TRY(device_upload_bytes(operands->fragments, pieces, pieces_bytes));
    TRY(device_allocate((void **)&operands->norms, norms_bytes));
    TRY(device_upload_bytes(operands->norms, norms, norms_bytes));
out:
    free(pieces);
    free(norms);
    return status;
}

void texture_operands_free(struct texture_operands *operands)
{
    device_free(operands->fragments);
    device_free(operands->norms);
    *operands = {};
}
