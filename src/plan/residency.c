#include "plan/residency.h"

#include "plan/cache.h"

static void free_room(tsr_room *room) {
  tsr_rects_free(&room->valid);
  tsr_rects_free(&room->newer);
}

void tsr_residency_free(tsr_residency *residency) {
  for (size_t i = 0; i < residency->rooms.count; i++) free_room(&residency->rooms.items[i]);
  TSR_VEC_FREE(&residency->rooms);
}

tsr_room *tsr_residency_add(tsr_residency *residency, tsr_room room) {
  room.valid = room.newer = (tsr_rects){0};
  if (!TSR_VEC_PUSH(&residency->rooms, room)) return NULL;
  return &residency->rooms.items[residency->rooms.count - 1];
}

bool tsr_residency_copy(const tsr_residency *from, tsr_residency *to) {
  *to = (tsr_residency){0};
  for (size_t i = 0; i < from->rooms.count; i++) {
    const tsr_room *room = &from->rooms.items[i];
    tsr_room *added = tsr_residency_add(to, *room);
    if (added && tsr_rects_copy(&room->valid, &added->valid) &&
        tsr_rects_copy(&room->newer, &added->newer))
      continue;
    tsr_residency_free(to);
    return false;
  }
  return true;
}

static bool touches(const tsr_room *room, int matrix, tsr_rect rect) {
  return room->matrix == matrix && tsr_rect_meet(room->rect, rect);
}

bool tsr_residency_home_is_current(const tsr_residency *residency, int matrix, tsr_rect rect) {
  for (size_t i = 0; i < residency->rooms.count; i++) {
    const tsr_room *room = &residency->rooms.items[i];
    if (touches(room, matrix, rect) && tsr_rects_meets(&room->newer, rect)) return false;
  }
  return true;
}

bool tsr_room_forget(tsr_room *room, tsr_rect rect) {
  return tsr_rects_subtract(&room->valid, rect) && tsr_rects_subtract(&room->newer, rect);
}

bool tsr_residency_settled(tsr_residency *residency, int matrix, tsr_rect rect) {
  for (size_t i = 0; i < residency->rooms.count; i++) {
    tsr_room *room = &residency->rooms.items[i];
    if (touches(room, matrix, rect) && !tsr_rects_subtract(&room->newer, rect)) return false;
  }
  return true;
}

static uint64_t digest_rects(uint64_t digest, const tsr_rects *rects) {
  uint64_t count = rects->count;
  digest = tsr_cache_digest(digest, &count, sizeof count);
  return count == 0 ? digest : tsr_cache_digest(digest, rects->items, count * sizeof *rects->items);
}

uint64_t tsr_residency_digest(uint64_t before, const tsr_residency *residency) {
  uint64_t digest = tsr_cache_digest(before, "rooms", 5);
  for (size_t i = 0; i < residency->rooms.count; i++) {
    const tsr_room *room = &residency->rooms.items[i];
    const int64_t words[] = {room->device,    room->matrix,    room->ld,       room->rect.row0,
                             room->rect.col0, room->rect.row1, room->rect.col1};
    digest = tsr_cache_digest(digest, words, sizeof words);
    digest = digest_rects(digest, &room->valid);
    digest = digest_rects(digest, &room->newer);
  }
  return digest;
}
