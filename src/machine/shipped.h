/* Machines that come with the library, for devices that nobody has measured yet. */
#ifndef TSR_MACHINE_SHIPPED_H
#define TSR_MACHINE_SHIPPED_H

#include "machine/machine.h"

/* A machine of that many devices of that name, as the runtime tells it ("NVIDIA H200"); of a name
 * that is not known, the least that a GPU of a server does. Its CPU is not known. */
tsr_status tsr_machine_shipped(const char *device, int devices, tsr_machine **machine);

#endif
