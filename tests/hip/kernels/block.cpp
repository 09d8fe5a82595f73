/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs the threads of a block in turn. A fiber takes one thread after the other; if a thread waits
 * at a barrier, its fiber rests, and another one takes the next thread. When all threads have come
 * to the barrier, the fibers go on, in order. A kernel without barriers needs one fiber.
 */
#include "block.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <vector>

#include "hip/hip_runtime.h"

thread_local hip_index threadIdx, blockIdx, blockDim, gridDim;

/* ---- Kernels by name ------------------------------------------------------------ */

static hip_kernel *kernels; /* written while the library is loaded */

extern "C" void hip_kernel_register(hip_kernel *kernel) {
  kernel->next = kernels;
  kernels = kernel;
}

/* The library has each kernel under the name that it has in a GPU's code. */
const hip_kernel *hip_kernel_find(const char *name) {
  Dl_info here;
  if (!dladdr(&kernels, &here)) return nullptr;
  void *library = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void *function = library ? dlsym(library, name) : nullptr;
  for (hip_kernel *k = kernels; k && function; k = k->next)
    if ((void *)k->function == function) return k;
  return nullptr;
}

/* ---- Fibers ----------------------------------------------------------------------- */

namespace {

/* Bytes of a stack. Neighbouring stacks begin at different lines of a page, and in different pages
 * of what a cache takes for the same: at one multiple of a large power of 2, stacks of 1024 threads
 * would take one another's places in the cache at each barrier. */
enum { STACK = 68 << 10, LINE = 64, LINES = 64 };

/* A fiber begins by its context; later it is left and resumed by jumps, which need no call of the
 * system. It lives on from block to block. */
struct fiber {
  ucontext_t context;
  jmp_buf rest;
  void *stack = MAP_FAILED;
  hip_index thread; /* that it runs */
  bool waits;       /* at a barrier */
};

/* The block that runs on this thread of the CPU. */
struct block {
  const hip_kernel *kernel;
  const void *packed;
  unsigned next, threads; /* the first thread that no fiber has taken */
  size_t running;         /* the fiber */
  jmp_buf home;           /* where a fiber that waits or ends goes */
};

thread_local std::vector<fiber *> fibers;
thread_local block now;

hip_index index_of(unsigned thread, hip_index extents) {
  return {thread % extents.x, thread / extents.x % extents.y, thread / extents.x / extents.y};
}

/* Until the fiber is resumed. */
void rest(fiber *self) {
  if (_setjmp(self->rest) == 0) _longjmp(now.home, 1);
}

/* A fiber's life: it takes threads while there are any. */
void take_threads() {
  fiber *self = fibers[now.running];
  for (;;) {
    while (now.next < now.threads) {
      threadIdx = self->thread = index_of(now.next++, blockDim);
      now.kernel->run(now.packed);
    }
    rest(self);
  }
}

void make_fiber() {
  fiber *made = new fiber;
  made->stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  getcontext(&made->context);
  made->context.uc_stack.ss_sp = made->stack;
  made->context.uc_stack.ss_size = STACK - fibers.size() % LINES * LINE;
  makecontext(&made->context, take_threads, 0);
  fibers.push_back(made);
}

/* Both run a fiber until it waits or has no more threads. */
void resume(size_t index) {
  fiber *f = fibers[index];
  now.running = index;
  threadIdx = f->thread;
  f->waits = false;
  if (_setjmp(now.home) == 0) _longjmp(f->rest, 1);
}

void start(size_t index) {
  if (index < fibers.size()) return resume(index);
  make_fiber();
  now.running = index;
  fibers[index]->waits = false;
  if (_setjmp(now.home) == 0) setcontext(&fibers[index]->context);
}

/* Lets the fibers that wait go on to the next barrier. Returns how many wait there. */
size_t pass_barrier(size_t count) {
  size_t waiting = 0;
  for (size_t i = 0; i < count; i++)
    if (fibers[i]->waits) {
      resume(i);
      waiting += fibers[i]->waits;
    }
  return waiting;
}

bool run_block(unsigned threads) {
  size_t count = 0, waiting = 0;
  now.next = 0;
  now.threads = threads;
  while (now.next < threads) {
    start(count);
    waiting += fibers[count++]->waits;
  }
  while (waiting > 0) {
    if (waiting < threads) return false;
    waiting = pass_barrier(count);
  }
  return true;
}

}  // namespace

extern "C" void hip_barrier(void) {
  fiber *self = fibers[now.running];
  self->waits = true;
  rest(self);
}

extern "C" bool hip_kernel_run(const hip_kernel *kernel, const void *packed,
                               const hip_shape *shape) {
  now.kernel = kernel;
  now.packed = packed;
  gridDim = {shape->grid[0], shape->grid[1], shape->grid[2]};
  blockDim = {shape->block[0], shape->block[1], shape->block[2]};
  unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  for (unsigned b = 0; b < blocks; b++) {
    blockIdx = index_of(b, gridDim);
    if (run_block(blockDim.x * blockDim.y * blockDim.z)) continue;
    hip_kernel_leave(); /* fibers that wait will not be resumed */
    return false;
  }
  return true;
}

extern "C" void hip_kernel_leave(void) {
  for (fiber *f : fibers) {
    munmap(f->stack, STACK);
    delete f;
  }
  fibers.clear();
}
