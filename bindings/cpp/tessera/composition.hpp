/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Composition of asynchronous calls: see tessera.h. */
#ifndef TESSERA_COMPOSITION_HPP
#define TESSERA_COMPOSITION_HPP

#include <cstdint>

#include <tessera.h>

#include "call.hpp"

namespace tessera {

namespace detail {

/* A matrix as tessera.h describes regions: column-major, a row-major one with rows and columns
 * exchanged. */
struct region {
  template <class M>
  explicit region(const M &x) : type(type_of<M>()) {
    const auto v = tessera::view(x);
    const bool by_column = v.layout() == TSR_COL_MAJOR;
    m = by_column ? v.rows() : v.cols();
    n = by_column ? v.cols() : v.rows();
    ld = v.ld();
    data = v.data();
    is_exchanged = !by_column;
  }
  tsr_uplo triangle(tsr_uplo uplo) const noexcept {
    if (!is_exchanged || uplo == TSR_GENERAL) return uplo;
    return uplo == TSR_LOWER ? TSR_UPPER : TSR_LOWER;
  }

  tsr_type type;
  std::int64_t m, n, ld;
  const void *data;
  bool is_exchanged;
};

}  // namespace detail

/* Makes a matrix, or a triangle of it, valid in host memory. */
template <class M>
void coherent(const context &context, const M &x, tsr_uplo uplo = TSR_GENERAL) {
  const detail::region r(x);
  detail::check(tsr_coherent(context.get(), r.triangle(uplo), r.m, r.n, r.data, r.ld, r.type));
}
template <class M>
void coherent_async(const context &context, const M &x, tsr_uplo uplo = TSR_GENERAL) {
  const detail::region r(x);
  detail::check(
      tsr_coherent_async(context.get(), r.triangle(uplo), r.m, r.n, r.data, r.ld, r.type));
}

/* Says that the program has changed a matrix in host memory. */
template <class M>
void invalidate(const context &context, const M &x) {
  const detail::region r(x);
  detail::check(tsr_invalidate(context.get(), r.m, r.n, r.data, r.ld, r.type));
}

/* Forgets a matrix, before its memory is freed. context::release forgets all. */
template <class M>
void release(const context &context, const M &x) {
  const detail::region r(x);
  detail::check(tsr_release(context.get(), r.m, r.n, r.data, r.ld, r.type));
}

/* Maps blocks of a matrix to devices; distribute also copies them there. Blocks are nb columns or
 * mb x nb; of a row-major matrix nb rows or nb x mb. */
template <class M>
void map_1d_block_cyclic(const context &context, const M &x, std::int64_t nb) {
  const detail::region r(x);
  detail::check(tsr_map_1d_block_cyclic(context.get(), r.m, r.n, r.data, r.ld, r.type, nb));
}
template <class M>
void map_2d_block_cyclic(const context &context, const M &x, std::int64_t mb, std::int64_t nb,
                         int p, int q) {
  const detail::region r(x);
  detail::check(
      tsr_map_2d_block_cyclic(context.get(), r.m, r.n, r.data, r.ld, r.type, mb, nb, p, q));
}
/* The grid begins at device `first`, and goes on with device 0 after the last one. */
template <class M>
void map_block_cyclic(const context &context, const M &x, std::int64_t mb, std::int64_t nb, int p,
                      int q, int first) {
  const detail::region r(x);
  detail::check(
      tsr_map_block_cyclic(context.get(), r.m, r.n, r.data, r.ld, r.type, mb, nb, p, q, first));
}
template <class M>
void distribute_1d_block_cyclic_async(const context &context, const M &x, std::int64_t nb) {
  const detail::region r(x);
  detail::check(
      tsr_distribute_1d_block_cyclic_async(context.get(), r.m, r.n, r.data, r.ld, r.type, nb));
}
template <class M>
void distribute_2d_block_cyclic_async(const context &context, const M &x, std::int64_t mb,
                                      std::int64_t nb, int p, int q) {
  const detail::region r(x);
  detail::check(tsr_distribute_2d_block_cyclic_async(context.get(), r.m, r.n, r.data, r.ld, r.type,
                                                     mb, nb, p, q));
}
template <class M>
void distribute_block_cyclic_async(const context &context, const M &x, std::int64_t mb,
                                   std::int64_t nb, int p, int q, int first) {
  const detail::region r(x);
  detail::check(tsr_distribute_block_cyclic_async(context.get(), r.m, r.n, r.data, r.ld, r.type, mb,
                                                  nb, p, q, first));
}

/* Begins to copy a block to a device, and maps it there. */
template <class M>
void put_async(const context &context, const M &x, int device) {
  const detail::region r(x);
  detail::check(tsr_put_async(context.get(), r.m, r.n, r.data, r.ld, r.type, device));
}

/* Where a matrix or a part of one will be once the calls made before are complete. */
struct whereabouts {
  int device;   /* has valid copies of the largest part; -1: no device has any */
  double part;  /* of the matrix that is valid there, 0 to 1 */
  int mapped;   /* the device that its first element is mapped to; -1: not mapped */
  bool current; /* host memory has the current values of all of it */
};

template <class M>
whereabouts where(const context &context, const M &x) {
  const detail::region r(x);
  whereabouts found{};
  int current = 0;
  detail::check(tsr_where(context.get(), r.m, r.n, r.data, r.ld, r.type, &found.device, &found.part,
                          &found.mapped, &current));
  found.current = current != 0;
  return found;
}

}  // namespace tessera

#endif
