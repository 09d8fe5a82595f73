/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "operand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes before and behind each matrix. A multiple of any alignment that plans look at. */
enum { GUARD = 512, PAGE = 4096 };

/* A NaN in every type, with bits that no arithmetic makes. */
enum { FILLER = 0xFF };

size_t element_size(char type) {
  switch (type) {
    case 'h':
    case 'b':
      return 2;
    case 'd':
    case 'c':
      return 8;
    case 'z':
      return 16;
    default:
      return 4;
  }
}

/* ---- 16-bit numbers ---- */

static uint32_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static float bits_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static double half_value(uint16_t h) {
  int exponent = h >> 10 & 31, fraction = h & 1023;
  double sign = h & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return exponent ? sign * ldexp(1024 + fraction, exponent - 25) : sign * ldexp(fraction, -24);
}

static uint16_t half_bits(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (isnan(value)) return 0x7E00;
  if (size >= 65520) return sign | 0x7C00;
  int exponent = 0;
  frexp(size, &exponent); /* size = 0.5 .. 1 times 2^exponent */
  int unit = exponent - 11 > -24 ? exponent - 11 : -24;
  double steps = nearbyint(ldexp(size, -unit)); /* at most 2048, of 2^unit */
  if (steps == 0) return sign;
  if (steps < 1024) return sign | (uint16_t)steps; /* only where unit is -24: subnormal */
  return (uint16_t)(sign | (uint16_t)(((unit + 24) << 10) + (int)steps));
}

static uint16_t bfloat_bits(double value) {
  uint32_t bits = float_bits((float)value);
  if (isnan(value)) return 0x7FC0;
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

void element_put(char type, void *at, double re, double im) {
  float single[2] = {(float)re, (float)im};
  double both[2] = {re, im};
  uint16_t half = type == 'h' ? half_bits(re) : bfloat_bits(re);
  switch (type) {
    case 'd':
      memcpy(at, both, 8);
      break;
    case 'z':
      memcpy(at, both, 16);
      break;
    case 'c':
      memcpy(at, single, 8);
      break;
    case 'h':
    case 'b':
      memcpy(at, &half, 2);
      break;
    default:
      memcpy(at, single, 4);
  }
}

void element_get(char type, const void *at, double *re, double *im) {
  float single[2] = {0, 0};
  double both[2] = {0, 0};
  uint16_t half;
  switch (type) {
    case 'd':
      memcpy(both, at, 8);
      break;
    case 'z':
      memcpy(both, at, 16);
      break;
    case 'h':
      memcpy(&half, at, 2), both[0] = half_value(half);
      break;
    case 'b':
      memcpy(&half, at, 2), both[0] = bits_float((uint32_t)half << 16);
      break;
    default:
      memcpy(single, at, element_size(type));
      both[0] = single[0], both[1] = single[1];
  }
  *re = both[0], *im = both[1];
}

/* ---- Storage ---- */

void *operand_pointer(const operand *o) {
  return o->memory ? o->memory + o->start : NULL;
}

const void *operand_at(const operand *o, const unsigned char *bytes, int64_t i, int64_t j) {
  return bytes + o->start + (size_t)(i + j * o->ld) * element_size(o->type);
}

void operand_value(const operand *o, const unsigned char *bytes, int64_t i, int64_t j, double *re,
                   double *im) {
  const stored *s = &o->shape;
  bool inside = stored_inside(s, i, j);
  *re = s->unit && i == j, *im = 0;
  if (!inside && (i == j || s->rest == REST_ZERO || s->rest == REST_NOTHING)) return;
  element_get(o->type, operand_at(o, bytes, inside ? i : j, inside ? j : i), re, im);
  if (i == j && s->real_diagonal) *im = 0;
  if (!inside && s->rest == REST_CONJUGATE) *im = -*im;
}

/* zeros: of 100 elements beside the diagonal. */
static void fill_one(operand *o, operand_content content, int zeros, rng *random, int64_t i,
                     int64_t j) {
  double re = 2 * rng_unit(random) - 1, im = 2 * rng_unit(random) - 1;
  if (zeros > 0 && rng_between(random, 0, 99) < zeros && i != j) re = im = 0;
  bool other = !stored_inside(&o->shape, i, j);
  /* A sum with a NaN may have its very bits: only numbers tell that they were written. */
  if (other && (o->shape.rest != REST_NOTHING || re > 0)) return;
  if (content == CONTENT_DOMINANT) {
    double scale = (o->shape.unit ? 0.5 : 1) / (double)o->shape.fast;
    re = i == j ? copysign(2 + fabs(re), re) : re * scale;
    im = i == j ? im : im * scale;
  }
  if (content == CONTENT_DEFINITE && i == j) re = 2 * (double)o->shape.fast + fabs(re);
  if (content == CONTENT_NAN && !other) re = im = NAN;
  if (o->shape.real_diagonal && i == j) im = content == CONTENT_REAL ? 0 : NAN;
  element_put(o->type, (void *)operand_at(o, o->image, i, j), re, im);
}

static void fill(operand *o, operand_content content, int zeros, rng *random) {
  memset(o->image, FILLER, o->bytes);
  for (int64_t j = 0; j < o->shape.slow; ++j)
    for (int64_t i = 0; i < o->shape.fast; ++i) fill_one(o, content, zeros, random, i, j);
}

static tsr_status host_alloc(operand *o) {
  o->memory = aligned_alloc(PAGE, (o->bytes + PAGE - 1) / PAGE * PAGE);
  return o->memory ? TSR_OK : TSR_ERR_MEMORY;
}

static bool is_partly(const operand *o) {
  return o->home == HOME_PART || o->home == HOME_PART_REGISTERED;
}

/* Chooses what of the storage is to be registered: all, or whole units from a random one on. Real
 * pinning works in pages; emulated pinning takes what it is given, and small matrices want small
 * units. */
static void choose_part(operand *o, rng *random) {
  o->registered = o->memory;
  o->registered_bytes = o->bytes;
  if (!is_partly(o)) return;
  size_t unit = o->bytes >= 4 * PAGE ? PAGE : 64;
  int64_t units = (int64_t)((o->bytes + unit - 1) / unit);
  int64_t first = rng_between(random, 0, units - 1), last = rng_between(random, first, units - 1);
  o->registered = o->memory + (size_t)first * unit;
  o->registered_bytes = (size_t)(last - first + 1) * unit;
}

static tsr_status registered_alloc(operand *o, rng *random) {
  tsr_status status = host_alloc(o);
  if (status != TSR_OK) return status;
  choose_part(o, random);
  if (o->home == HOME_PART) status = tsr_register(o->context, o->registered, o->registered_bytes);
  if (o->home == HOME_PART && status == TSR_OK) status = tsr_sync(o->context);
  if (status != TSR_OK) o->registered = NULL;
  return status;
}

static bool registered_late(const operand *o) {
  return o->home == HOME_REGISTERED || o->home == HOME_PART_REGISTERED;
}

tsr_status operand_register(operand *o) {
  if (!o->memory || !registered_late(o)) return TSR_OK;
  tsr_status status = tsr_register(o->context, o->registered, o->registered_bytes);
  if (status != TSR_OK) o->registered = NULL;
  return status;
}

tsr_status operand_unregister(operand *o) {
  if (!o->registered) return TSR_OK;
  void *registered = o->registered;
  o->registered = NULL;
  return tsr_unregister(o->context, registered);
}

static tsr_status allocate(operand *o, rng *random) {
  if (o->home == HOME_HOST) return host_alloc(o);
  if (o->home == HOME_PART || registered_late(o)) return registered_alloc(o, random);
  void *memory = NULL;
  int device = o->home == HOME_PINNED ? TSR_HOST : o->home - '0';
  tsr_status status = tsr_malloc(o->context, device, o->bytes, &memory);
  o->memory = memory;
  return status;
}

static bool on_device(const operand *o) {
  return o->home >= '0' && o->home <= '9';
}

static tsr_status put(operand *o) {
  if (on_device(o)) return tsr_memcpy(o->context, o->memory, o->image, o->bytes);
  memcpy(o->memory, o->image, o->bytes);
  return TSR_OK;
}

tsr_status operand_create(const problem *p, tsr_context *context, int which, const stored *shape,
                          operand_content content, rng *random, operand *made) {
  operand o = {.context = context, .type = p->type, .home = p->home[which], .shape = *shape};
  size_t size = element_size(o.type);
  o.ld = (shape->fast > 0 ? shape->fast : 1) + p->pad[which];
  o.start = GUARD + (size_t)p->offset[which] * size;
  o.bytes = o.start + (size_t)(o.ld * (shape->slow > 0 ? shape->slow : 1)) * size + GUARD;
  o.image = malloc(o.bytes);
  if (!o.image) return TSR_ERR_MEMORY;
  /* First: the data must not depend on the home. */
  fill(&o, content, which < 2 ? p->zeros : 0, random);
  tsr_status status = allocate(&o, random);
  if (status == TSR_OK) status = put(&o);
  if (status != TSR_OK) {
    operand_destroy(&o);
    return status;
  }
  *made = o;
  return TSR_OK;
}

tsr_status operand_set(operand *o, int64_t i, int64_t j, double re) {
  element_put(o->type, (void *)operand_at(o, o->image, i, j), re, NAN);
  return put(o);
}

void operand_destroy(operand *o) {
  operand_unregister(o);
  if (o->home == HOME_HOST || o->home == HOME_PART || registered_late(o))
    free(o->memory);
  else if (o->memory)
    tsr_free(o->context, o->memory);
  free(o->image);
  memset(o, 0, sizeof *o);
}

tsr_status operand_fetch(const operand *o, unsigned char **bytes) {
  *bytes = malloc(o->bytes);
  if (!*bytes) return TSR_ERR_MEMORY;
  if (on_device(o)) return tsr_memcpy(o->context, *bytes, o->memory, o->bytes);
  memcpy(*bytes, o->memory, o->bytes);
  return TSR_OK;
}

static bool byte_inside(const operand *o, size_t byte) {
  if (byte < o->start) return false;
  int64_t element = (int64_t)((byte - o->start) / element_size(o->type));
  int64_t i = element % o->ld, j = element / o->ld;
  return i < o->shape.fast && j < o->shape.slow && stored_inside(&o->shape, i, j);
}

int64_t operand_first_change(const operand *o, const unsigned char *bytes, bool all) {
  if (memcmp(bytes, o->image, o->bytes) == 0) return -1;
  for (size_t i = 0; i < o->bytes; ++i)
    if (bytes[i] != o->image[i] && (all || !byte_inside(o, i))) return (int64_t)i;
  return -1;
}
