#include "dist/slots.h"

bool tsr_slots_suffice(const tsr_slots *s, int count, const size_t bytes[2]) {
  return s->count >= count && s->bytes[0] >= bytes[0] && s->bytes[1] >= bytes[1];
}

void tsr_slots_free(const tsr_transport *transport, void *state, tsr_slots *s) {
  for (int operand = 0; operand < 2; operand++)
    for (int i = 0; i <= TSR_LOOKAHEAD_MOST; i++)
      if (s->memory[operand][i] != NULL) transport->release(state, s->memory[operand][i]);
  *s = (tsr_slots){0};
}

static tsr_status allocate(const tsr_transport *transport, void *state, tsr_slots *s) {
  for (int operand = 0; operand < 2; operand++)
    for (int i = 0; i < s->count && s->bytes[operand] > 0; i++)
      TSR_TRY(transport->allocate(state, s->bytes[operand], &s->memory[operand][i]));
  return TSR_OK;
}

tsr_status tsr_slots_provide(const tsr_transport *transport, void *state, int count,
                             const size_t bytes[2], tsr_slots *s) {
  if (tsr_slots_suffice(s, count, bytes)) return TSR_OK;
  tsr_slots wanted = {.count = count > s->count ? count : s->count};
  for (int operand = 0; operand < 2; operand++)
    wanted.bytes[operand] = bytes[operand] > s->bytes[operand] ? bytes[operand] : s->bytes[operand];
  tsr_slots_free(transport, state, s);
  *s = wanted;
  tsr_status status = allocate(transport, state, s);
  if (status == TSR_OK) return TSR_OK;
  tsr_error error;
  tsr_error_take(status, &error);
  tsr_slots_free(transport, state, s);
  return tsr_error_put(&error);
}
