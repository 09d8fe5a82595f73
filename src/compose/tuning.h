/* Inside what stays between calls: its tuned constants, TSR_TUNE_..., from the table in
 * tuning.def. */
#ifndef TSR_COMPOSE_TUNING_H
#define TSR_COMPOSE_TUNING_H

#define TSR_TUNING "compose/tuning.def"
#include "base/tuning.h"

#endif
