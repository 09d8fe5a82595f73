/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tessera for C++17 and later: tessera.h with objects that end themselves, exceptions in place of
 * statuses, and routines that take types, extents and leading dimensions from their matrices.
 *
 *   tessera::context context;
 *   tessera::matrix<double> a(context, m, k), b(context, k, n), c(context, m, n);
 *   tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1.0, a, b, 0.0, c);
 *
 * Conventions, beside those of tessera.h, which says what each function does
 *   - A function throws tessera::error, with status and message, where the C function returns a
 *     status. Where extents do not fit together the status is TSR_ERR_ARGUMENT, and nothing is
 *     touched. Destructors and moves do not throw.
 *   - Flags, formats and machines are those of tessera.h: TSR_TRANS, TSR_JSON and so on.
 *   - A matrix of a call is one of
 *       a tessera::matrix, which has pinned memory of its own,
 *       a view: tessera::col_major(x, m, n) or row_major(x, m, n) of a pointer, vector, array or
 *         span x, with a leading dimension where it is not the least; block() gives a part of it,
 *       a std::mdspan of rank 2 (or what has its members), one of whose strides is 1.
 *     All matrices of a call are column-major, or all are row-major.
 *   - The elements are float, double or std::complex of them; a specialisation of tessera::element
 *     adds a type, for instance one for TSR_H.
 *   - A copy of a context is the same context. It ends with its last copy; memory and events hold
 *     one. What is left of asynchronous calls must be made coherent before.
 */
#ifndef TESSERA_HPP
#define TESSERA_HPP

#include <tessera.h>

#include "tessera/call.hpp"
#include "tessera/composition.hpp"
#include "tessera/context.hpp"
#include "tessera/error.hpp"
#include "tessera/memory.hpp"
#include "tessera/plan.hpp"
#include "tessera/routines.hpp"
#include "tessera/view.hpp"

#endif
