/* cublasLt.h: as cublas_v2.h: a handle, and nothing that computes. */
#ifndef EMULATED_CUBLASLT_H
#define EMULATED_CUBLASLT_H

#include "cublas_v2.h"

typedef struct cublasLtContext *cublasLtHandle_t;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = nullptr;
    return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

#endif
