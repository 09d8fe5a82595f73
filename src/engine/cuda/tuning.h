/* Inside the engine of CUDA devices: its tuned constants, TSR_TUNE_..., from the table in
 * tuning.def. */
#ifndef TSR_ENGINE_CUDA_TUNING_H
#define TSR_ENGINE_CUDA_TUNING_H

#define TSR_TUNING "engine/cuda/tuning.def"
#include "base/tuning.h"

#endif
