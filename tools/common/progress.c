/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

/* s from progress_open to the first line: a command that ends sooner needs none. */
static const double PATIENCE = 1;

/* ns between two lines: often enough to look alive. */
enum { EVERY = 200000000 };

enum { BAR = 20, MOST_COLUMNS = 79 };

/* ---- The line ---- */

/* "[=====>    ]  47 %" */
static int write_bar(const progress *p, char *text, size_t room) {
  char bar[BAR + 1];
  int filled = (int)(p->fraction * BAR);
  memset(bar, ' ', BAR);
  memset(bar, '=', (size_t)filled);
  if (filled < BAR) bar[filled] = '>';
  bar[BAR] = '\0';
  return snprintf(text, room, "[%s] %3.0f %%", bar, 100 * p->fraction);
}

/* s until the work is done, at the rate so far; at least 1, since what is shown is not done. */
static double time_left(const progress *p) {
  double all = (p->told - p->begin) / p->fraction, left = p->begin + all - tool_now();
  return left < 1 ? 1 : left;
}

/* Writes a line without its end. */
static void write_line(const progress *p, char *text, size_t room) {
  double elapsed = tool_now() - p->begin;
  bool expected = p->expected > 0;
  if (p->fraction <= 0) {
    snprintf(text, room, "%s%s%s  %s%s%s", p->terminal ? "" : tool_name(), p->terminal ? "" : ": ",
             p->what, tool_duration(elapsed), expected ? " of about " : "",
             expected ? tool_duration(p->expected) : "");
    return;
  }
  int used = p->terminal ? write_bar(p, text, room)
                         : snprintf(text, room, "%s: %.0f %%", tool_name(), 100 * p->fraction);
  if (p->flops > 0)
    snprintf(text + used, room - (size_t)used, "  %s  %s left",
             tool_rate(p->fraction * p->flops / (p->told - p->begin)),
             tool_duration(p->fraction < 1 ? time_left(p) : 0));
  else
    snprintf(text + used, room - (size_t)used, "  %s", p->what);
}

/* Draws the line anew on the terminal. */
static void draw(progress *p) {
  char text[MOST_COLUMNS + 1];
  if (tool_now() - p->opened < PATIENCE) return;
  write_line(p, text, sizeof text);
  fprintf(stderr, "\r%-*.*s", p->columns, p->columns, text);
  fflush(stderr);
  p->drawn = true;
}

static void erase(progress *p) {
  if (p->drawn) fprintf(stderr, "\r%*s\r", p->columns, "");
  fflush(stderr);
  p->drawn = false;
}

/* The fraction that is done, or that the time suggests; a prediction is never all of it. */
static double guess_fraction(const progress *p) {
  if (p->fraction > 0 || p->expected <= 0) return p->fraction;
  double guess = (tool_now() - p->begin) / p->expected;
  return guess < 0.99 ? guess : 0.99;
}

/* Prints a line if another tenth is done. */
static void print_tenth(progress *p) {
  char text[MOST_COLUMNS + 1];
  int tenths = (int)(10 * guess_fraction(p));
  if (tenths == p->tenths) return;
  p->tenths = tenths;
  write_line(p, text, sizeof text);
  fprintf(stderr, "%s\n", text);
}

/* ---- The thread ---- */

static void *keep_drawing(void *user) {
  progress *p = user;
  pthread_mutex_lock(&p->lock);
  while (!p->ended) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += EVERY;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&p->wake, &p->lock, &until);
    if (p->ended || !p->what[0]) continue;
    if (p->terminal) draw(p);
    if (p->lines) print_tenth(p);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* A line that fills the terminal's last column would be broken into two. */
static int find_columns(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return MOST_COLUMNS;
  return size.ws_col > MOST_COLUMNS ? MOST_COLUMNS : size.ws_col - 1;
}

/* The one that is shown; NULL: none. */
static progress *shown;

/* Makes place for a message. */
static void hide(void) {
  if (!shown) return;
  pthread_mutex_lock(&shown->lock);
  erase(shown);
  pthread_mutex_unlock(&shown->lock);
}

void progress_open(progress *p, bool asked) {
  *p = (progress){
      .terminal = isatty(STDERR_FILENO), .columns = find_columns(), .opened = tool_now()};
  p->lines = asked && !p->terminal;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  p->running = (p->terminal || p->lines) && pthread_create(&p->thread, NULL, keep_drawing, p) == 0;
  shown = p;
  tool_before_messages(hide);
}

static void stop_thread(progress *p) {
  pthread_mutex_lock(&p->lock);
  p->ended = true;
  pthread_cond_signal(&p->wake);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->thread, NULL);
  erase(p);
}

void progress_close(progress *p) {
  if (!p->columns) return;
  if (p->running) stop_thread(p);
  shown = NULL;
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  *p = (progress){0};
}

/* ---- What is done ---- */

/* Sets what begins now. The lock is not held. */
static void begin(progress *p, const char *what, double expected, double flops) {
  if (!p->columns) return;
  pthread_mutex_lock(&p->lock);
  snprintf(p->what, sizeof p->what, "%s", what);
  p->expected = expected;
  p->flops = flops;
  p->fraction = 0;
  p->tenths = 0;
  p->begin = tool_now();
  if (!*what) erase(p);
  pthread_mutex_unlock(&p->lock);
}

void progress_phase(progress *p, const char *what, double expected) {
  begin(p, what, expected, 0);
}

void progress_call(progress *p, const char *what, double flops) {
  begin(p, what, 0, flops);
}

/* The lock is held. */
static void set_fraction(progress *p, double fraction) {
  p->fraction = fraction > 0 ? fmin(fraction, 1) : 0; /* 0 for a NaN, too */
  p->told = tool_now();
}

void progress_done(progress *p, double fraction) {
  if (!p->columns) return;
  pthread_mutex_lock(&p->lock);
  set_fraction(p, fraction);
  if (p->lines && p->fraction > 0) print_tenth(p);
  pthread_mutex_unlock(&p->lock);
}

void progress_tell(void *user, double fraction, const char *what) {
  if (strcmp(what, "copies") != 0) progress_done(user, fraction);
}

void progress_probe(void *user, double fraction, const char *what) {
  progress *p = user;
  if (!p->columns) return;
  pthread_mutex_lock(&p->lock);
  snprintf(p->what, sizeof p->what, "%s", what ? what : "measuring");
  set_fraction(p, fraction);
  pthread_mutex_unlock(&p->lock);
}
