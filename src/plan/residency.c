/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/residency.h"

#include "plan/cache.h"

static void free_block(tsr_cached_block *block) {
  tsr_rects_free(&block->valid);
  tsr_rects_free(&block->newer);
}

void tsr_residency_free(tsr_residency *residency) {
  for (size_t i = 0; i < residency->blocks.count; i++) free_block(&residency->blocks.items[i]);
  TSR_VEC_FREE(&residency->blocks);
}

tsr_cached_block *tsr_residency_add(tsr_residency *residency, tsr_cached_block block) {
  block.valid = block.newer = (tsr_rects){0};
  if (!TSR_VEC_PUSH(&residency->blocks, block)) return NULL;
  return &residency->blocks.items[residency->blocks.count - 1];
}

bool tsr_residency_copy(const tsr_residency *from, tsr_residency *to) {
  *to = (tsr_residency){0};
  for (size_t i = 0; i < from->blocks.count; i++) {
    const tsr_cached_block *block = &from->blocks.items[i];
    tsr_cached_block *added = tsr_residency_add(to, *block);
    if (added && tsr_rects_copy(&block->valid, &added->valid) &&
        tsr_rects_copy(&block->newer, &added->newer))
      continue;
    tsr_residency_free(to);
    return false;
  }
  return true;
}

static bool touches(const tsr_cached_block *block, int matrix, tsr_rect rect) {
  return block->matrix == matrix && tsr_rect_meet(block->rect, rect);
}

bool tsr_residency_home_is_current(const tsr_residency *residency, int matrix, tsr_rect rect) {
  for (size_t i = 0; i < residency->blocks.count; i++) {
    const tsr_cached_block *block = &residency->blocks.items[i];
    if (touches(block, matrix, rect) && tsr_rects_meets(&block->newer, rect)) return false;
  }
  return true;
}

bool tsr_cached_block_forget_shape(tsr_cached_block *block, tsr_shape shape) {
  return tsr_rects_subtract_shape(&block->valid, shape) &&
         tsr_rects_subtract_shape(&block->newer, shape);
}

bool tsr_cached_block_forget(tsr_cached_block *block, tsr_rect rect) {
  return tsr_cached_block_forget_shape(block, tsr_shape_of(rect));
}

bool tsr_residency_note_written_back(tsr_residency *residency, int matrix, tsr_shape shape) {
  for (size_t i = 0; i < residency->blocks.count; i++) {
    tsr_cached_block *block = &residency->blocks.items[i];
    if (touches(block, matrix, shape.rect) && !tsr_rects_subtract_shape(&block->newer, shape))
      return false;
  }
  return true;
}

static uint64_t digest_rects(uint64_t digest, const tsr_rects *rects) {
  uint64_t count = rects->count;
  digest = tsr_cache_digest(digest, &count, sizeof count);
  return count == 0 ? digest : tsr_cache_digest(digest, rects->items, count * sizeof *rects->items);
}

uint64_t tsr_residency_digest(uint64_t before, const tsr_residency *residency) {
  uint64_t digest = tsr_cache_digest(before, "cached blocks", 13);
  for (size_t i = 0; i < residency->blocks.count; i++) {
    const tsr_cached_block *block = &residency->blocks.items[i];
    const int64_t words[] = {block->device,    block->matrix,    block->ld,       block->rect.row0,
                             block->rect.col0, block->rect.row1, block->rect.col1};
    digest = tsr_cache_digest(digest, words, sizeof words);
    digest = digest_rects(digest, &block->valid);
    digest = digest_rects(digest, &block->newer);
  }
  return digest;
}
