/* nvToolsExt.h: its older place. */
#include "nvtx3/nvToolsExt.h"
