/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A kernel that is launched somewhere in the source is registered when the library is loaded. */
#ifndef TESTS_HIP_KERNELS_REGISTERED_H
#define TESTS_HIP_KERNELS_REGISTERED_H

#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "arguments.h"
#include "block.h"

extern "C" void hip_kernel_register(hip_kernel *kernel);

/* An argument as the kernel gets it. */
template <class T>
T hip_argument(const void *given, hip_translate translate, void *context) {
  T value = *(const T *)given;
  if constexpr (std::is_pointer_v<T>)
    return (T)translate((const void *)value, context);
  else if constexpr (std::is_class_v<T>)
    hip_pointers(value, [=](auto &pointer) {
      pointer = (std::remove_reference_t<decltype(pointer)>)translate(pointer, context);
    });
  return value;
}

template <auto KERNEL>
struct hip_registered;
template <class... T, void (*KERNEL)(T...)>
struct hip_registered<KERNEL> {
  typedef std::tuple<T...> values;

  template <size_t... I>
  static void pack_all(void **arguments, hip_translate translate, void *context, void *packed,
                       std::index_sequence<I...>) {
    new (packed) values(hip_argument<T>(arguments[I], translate, context)...);
  }
  static void pack(void **arguments, hip_translate translate, void *context, void *packed) {
    pack_all(arguments, translate, context, packed, std::index_sequence_for<T...>());
  }
  static void run(const void *packed) {
    std::apply(KERNEL, *(const values *)packed);
  }

  struct entry {
    hip_kernel kernel = {nullptr, (void (*)(void))KERNEL, sizeof(values), pack, run};
    entry() {
      hip_kernel_register(&kernel);
    }
  };
  static inline entry registered;

  /* launches.cmake turns each <<<...>>> into a call of this, which is compiled and never run: the
   * engine launches through the runtime. */
  template <class... SHAPE>
  static auto launch(SHAPE...) {
    (void)&registered;
    return [](auto...) {};
  }
};

#endif
