/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Finding the fabric: if NCCL's was built, it can be loaded, also without a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/transport/fabric.h"

static const tsr_context_facts cuda = {.engine = "cuda", .fabric = "nccl"},
                               hip = {.engine = "hip", .fabric = "rccl"};

static void others_have_none(void **state) {
  (void)state;
  static const tsr_context_facts others[] = {{.engine = "host"}, {.engine = "cpu"}};
  const tsr_fabric *fabric = NULL;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tsr_fabric_find(&others[i], &fabric), TSR_ERR_UNSUPPORTED);
    assert_non_null(strstr(tsr_message(), others[i].engine));
    assert_null(fabric);
  }
}

/* Without a HIP runtime in the process RCCL's cannot be opened, and the message says so. */
static void rccl_is_found(void **state) {
  (void)state;
  const tsr_fabric *fabric = NULL;
  tsr_fabric_state *opened = NULL;
  char identity[TSR_FABRIC_IDENTITY] = "", memory[64];
#ifdef HAS_RCCL
  if (tsr_fabric_find(&hip, &fabric) != TSR_OK) fail_msg("%s", tsr_message());
  assert_string_equal(fabric->name, "rccl");
  assert_int_equal(fabric->open(memory, &opened, identity), TSR_ERR_UNSUPPORTED);
  assert_non_null(strstr(tsr_message(), "the HIP runtime is not loaded"));
#else
  (void)opened, (void)identity, (void)memory;
  assert_int_equal(tsr_fabric_find(&hip, &fabric), TSR_ERR_UNSUPPORTED);
  assert_non_null(strstr(tsr_message(), "libtessera_rccl.so.0.2"));
#endif
}

#ifdef HAS_NCCL
/* The sample has pieces enough for all ways, and memory that is not a device's is refused. */
static void nccl_is_found(void **state) {
  (void)state;
  const tsr_fabric *fabric = NULL, *again = NULL;
  tsr_fabric_state *opened = NULL;
  char identity[TSR_FABRIC_IDENTITY] = "", memory[64];
  if (tsr_fabric_find(&cuda, &fabric) != TSR_OK) fail_msg("%s", tsr_message());
  assert_string_equal(fabric->name, "nccl");
  assert_true(fabric->sample >= TSR_FABRIC_WAYS * fabric->piece);
  assert_int_equal(fabric->sample % fabric->piece, 0);
  assert_non_null(fabric->open_way);
  assert_non_null(fabric->onward);
  assert_true(fabric->open(memory, &opened, identity) != TSR_OK);
  assert_null(opened);
  assert_string_equal(identity, "");
  assert_int_equal(tsr_fabric_find(&cuda, &again), TSR_OK);
  assert_ptr_equal(again, fabric);
}
#else
static void nccl_is_found(void **state) {
  (void)state;
  const tsr_fabric *fabric = NULL;
  assert_int_equal(tsr_fabric_find(&cuda, &fabric), TSR_ERR_UNSUPPORTED);
  assert_non_null(strstr(tsr_message(), "libtessera_nccl.so.0.2"));
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(others_have_none),
      cmocka_unit_test(nccl_is_found),
      cmocka_unit_test(rccl_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
