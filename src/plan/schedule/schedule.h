/*
 * Inside the planner: from a graph whose tasks are in order and have owners to a plan.
 *
 * Tasks are taken in order. What a task reads and is not at its device is fetched, piece by piece,
 * for all devices that will read it (route*.c); room comes from memory.c; commands, queues and
 * waits from commands.c. Source: Uncut-GEMMs, algorithm 1, with copies cut apart from kernels.
 */
#ifndef TSR_PLAN_SCHEDULE_SCHEDULE_H
#define TSR_PLAN_SCHEDULE_SCHEDULE_H

#include "base/queue.h"
#include "blas/graph.h"
#include "plan/model/links.h"
#include "plan/plan.h"
#include "plan/residency.h"
#include "plan/schedule/room_index.h"

/* Where a piece comes from when more than its home has it. */
typedef enum tsr_routing {
  TSR_ROUTE_ETA,       /* where it arrives from first */
  TSR_ROUTE_BANDWIDTH, /* over the fastest link, however loaded; the home when no link is faster */
  TSR_ROUTE_HOME       /* its home, always */
} tsr_routing;

typedef struct tsr_schedule_options {
  int64_t piece; /* bytes of a copy */
  int streams;   /* compute queues of a device */
  bool relay;    /* what several devices read leaves its home once, if they reach each other */
  bool by_eta;   /* a device takes next the group whose inputs arrive first; not with slots */
  int64_t ahead[TSR_MACHINE_DEVICES]; /* slots: tasks of the sequence by which copies to a device
                                         should precede their use */
  tsr_routing routing;
  bool ignore_channels; /* links are thought to be independent of each other */
  unsigned apart;       /* operands, as bits, of which kernels read copies even at their home */
  const size_t *budget; /* bytes for each device */
  size_t ring;          /* bytes of the staging ring */
  const tsr_residency *residency; /* what is on devices; NULL: nothing is, and nothing stays */
} tsr_schedule_options;

/* Bytes that the room of a tile is a multiple of. */
enum { TSR_TILE_ALIGN = 512 };

/* Instead of a command: none; what it would bring is there from the start; several bring it, which
 * are among the writers of its tile. */
enum { TSR_NOTHING = -1, TSR_PRESENT = -2, TSR_GATHERED = -3 };

/* A piece of a tile: the unit of copies. */
typedef struct tsr_piece {
  int32_t command; /* that brings it, or one of the above */
  float eta;       /* estimated time of arrival, s */
} tsr_piece;

/* A tile's bytes at one device. */
typedef struct tsr_tile_copy {
  int32_t buffer;  /* TSR_NOTHING: not there */
  int32_t pieces;  /* first of its tsr_piece in the pool; TSR_NOTHING: none was asked for */
  int32_t writers; /* kernels that wrote to it: list in the mark pool */
  int32_t users;   /* slots: the last command of each queue that used it: list in the mark pool */
  int32_t before;  /* slots: users of what was in the slot before */
  int32_t slot;    /* slots: where it is */
  int32_t next;    /* slots: index of its next use in the list of uses */
  bool whole;      /* all of its pieces were asked for, */
  bool awaited;    /* the device's only queue that uses it has waited for all of them, and for what
                      was in the slot before */
} tsr_tile_copy;

/* A command and, for writers, the rectangle of the matrix it wrote. */
typedef struct tsr_mark {
  int64_t row, rows, col, cols;
  int32_t command, next;
} tsr_mark;

static inline bool tsr_mark_touches(const tsr_mark *mark, const tsr_task_operand *o) {
  return mark->col < o->col + o->cols && o->col < mark->col + mark->cols &&
         mark->row < o->row + o->rows && o->row < mark->row + mark->rows;
}

typedef struct tsr_slot {
  int32_t copy;  /* index of the tile copy in it, or TSR_NOTHING */
  int32_t users; /* marks of the last one that was in it */
} tsr_slot;

/* The slots of a device. last and next lie by themselves: they are searched for every new tile. */
typedef struct tsr_slots {
  tsr_slot *slot;
  int32_t *last; /* place in the sequence of each one's last use, */
  int32_t *next; /* and of its next one; INT32_MAX: none; -1: what is in it is nowhere else */
  int count;
  int taken; /* the first ones; no tile was in the others yet */
} tsr_slots;

typedef struct tsr_ring_slot {
  int32_t command; /* last that used it */
} tsr_ring_slot;

/* Finished blocks of C at a device that go home together. */
typedef struct tsr_homing {
  tsr_task_operand part;   /* those that wait; without rows: none */
  tsr_task_operand stripe; /* the last block's, of which so many rows are finished */
  int64_t finished;
  int32_t after; /* the command that finished the last one */
} tsr_homing;

typedef struct tsr_scheduler {
  const tsr_machine *machine;
  const tsr_call *call;
  const tsr_graph *graph;
  const tsr_schedule_options *options;
  tsr_plan *plan;
  size_t size[TSR_MATRICES]; /* bytes of an element */
  int devices, host;         /* of the machine; location of the host node used for staging */

  /* commands.c */
  int16_t queue_of[TSR_MACHINE_DEVICES][4];                     /* by role IN OUT COMPUTE(0) ADD */
  int16_t peer_queue[TSR_MACHINE_DEVICES][TSR_MACHINE_DEVICES]; /* [sender][receiver] */
  int16_t lane_queue[TSR_PLAN_QUEUES];
  int lanes, next_lane;
  uint32_t *seen;  /* [queue][queue]: commands of the second known to be over by the first */
  int queue_limit; /* stride of seen: most queues the plan can have */
  int32_t waiting[TSR_PLAN_QUEUES]; /* latest command of each queue that the next one waits for */
  int16_t waiting_queue[TSR_PLAN_QUEUES];
  int waiting_count;

  struct tsr_sequence *sequence; /* sequence.c */

  /* tiles */
  tsr_tile_copy *copies;
  size_t first_copy[TSR_MATRICES + 1];
  uint32_t *readers[TSR_OPERANDS]; /* devices that read a tile of A, B */
  int32_t *brought;                /* slots: what wrote to a tile of C at its home: mark lists */
  TSR_VEC(tsr_piece) pieces;
  TSR_VEC(tsr_mark) marks;

  /* slots.c */
  bool slots; /* budgets are tight: room is slots of one size, reused */
  size_t slot_bytes;
  tsr_slots slots_of[TSR_MACHINE_DEVICES];
  int32_t *uses; /* tasks that use each copy, ascending; ends with INT32_MAX */
  int32_t now;   /* place in the sequence of the task being scheduled */

  /* memory.c */
  tsr_ring_slot *ring;
  int ring_slots, ring_next;
  size_t ring_bytes; /* of one slot */

  /* route.c: the link availability matrix */
  float *link_free; /* [from * locations + to] */
  float *channel_free;
  double sent[TSR_MACHINE_LOCATIONS]; /* bytes that left each location */
  tsr_links links;
  bool one_port[TSR_MACHINE_DEVICES]; /* all links to other devices share the device's port */
  bool no_room;                       /* the budget is too small for this candidate */

  tsr_homing homing[TSR_MACHINE_DEVICES]; /* homing.c */

  /* rooms.c: residency */
  TSR_VEC(int32_t) room_buffer; /* of each room of plan->after: its buffer, or TSR_NOTHING */
  tsr_room_index room_index;    /* of plan->after; the first rooms are those that were there */
} tsr_scheduler;

/* How a graph and the budgets go together. */
typedef enum tsr_fit {
  TSR_FITS_NOT,  /* budgets are too small: the plan is void */
  TSR_FITS_IN,   /* every tile has room of its own */
  TSR_FITS_TIGHT /* tiles share memory */
} tsr_fit;

/* Makes the commands, buffers and queues of plan (call and grid set) for a graph. TSR_ERR_MEMORY
 * for host memory. */
tsr_status tsr_schedule(const tsr_machine *machine, const tsr_graph *graph,
                        const tsr_schedule_options *options, tsr_plan *plan, tsr_fit *fit);

/* The same for work that is not a graph's tasks: it adds its commands itself. The graph has grids
 * of tiles alone. */
typedef bool (*tsr_schedule_work)(tsr_scheduler *s, const void *what);
tsr_status tsr_schedule_with(const tsr_machine *machine, const tsr_graph *graph,
                             const tsr_schedule_options *options, tsr_schedule_work work,
                             const void *what, tsr_plan *plan, tsr_fit *fit);

/* Least budget with which a graph can be scheduled of which a device holds so many tiles of C at a
 * time: room for these, and for what one task reads. */
size_t tsr_schedule_least_budget(const tsr_call *call, const tsr_graph *graph, int64_t held);

/* ---- commands.c ---- */

tsr_status tsr_commands_init(tsr_scheduler *s);
int tsr_commands_queue(tsr_scheduler *s, int device, tsr_queue_role role, int index);

/* The next command will wait for this one (TSR_NOTHING: for none). */
void tsr_commands_wait(tsr_scheduler *s, int32_t command);
void tsr_commands_wait_marks(tsr_scheduler *s, int32_t marks);
/* The same of those marks that touch a rectangle. */
void tsr_commands_wait_touching(tsr_scheduler *s, int32_t marks, const tsr_task_operand *operand);

/* Appends the command to its queue with the waits collected so far; its index, or TSR_NOTHING
 * when memory is out. */
int32_t tsr_commands_add(tsr_scheduler *s, tsr_command command);

/* ---- sequence.c: the order in which tasks are scheduled ---- */

tsr_status tsr_sequence_init(tsr_scheduler *s);
void tsr_sequence_free(tsr_scheduler *s);
void tsr_sequence_rewind(tsr_scheduler *s);

/* The next task: the devices take turns, each going through its groups, by ETA if asked to. NULL
 * after the last one. */
const tsr_task *tsr_sequence_next(tsr_scheduler *s);

/* ---- memory.c ---- */

/* Elements from column to column of a tile: kernels are slow where columns are not aligned. */
int64_t tsr_memory_ld(int64_t rows, size_t size);

tsr_status tsr_memory_init(tsr_scheduler *s);
void tsr_memory_free(tsr_scheduler *s);

static inline tsr_tile_copy *tsr_copy_of(tsr_scheduler *s, int matrix, int32_t tile, int device) {
  return &s->copies[s->first_copy[matrix] + (size_t)tile * (size_t)s->devices + (size_t)device];
}

/* The tile's home is that device and kernels use it there. */
bool tsr_is_at_home(const tsr_scheduler *s, int matrix, int device);

/* Makes room for a tile at a device unless it has some. False: no room (s->no_room) or no host
 * memory. */
bool tsr_memory_place(tsr_scheduler *s, int matrix, int32_t tile, int device);

/* Room in the pinned ring for a rectangle of a matrix: a STAGE buffer; the next command waits for
 * who used it before. Its slot is then known by tsr_memory_staged. TSR_NOTHING: out of memory. */
int32_t tsr_memory_stage(tsr_scheduler *s, int matrix, int64_t row, int64_t col, int64_t rows,
                         int64_t cols);
void tsr_memory_staged(tsr_scheduler *s, int32_t buffer, int32_t last_user);

bool tsr_mark_push(tsr_scheduler *s, int32_t *list, tsr_mark mark);

/* ---- slots.c: memory that tiles share ---- */

/* Sets copy->next to the number of uses of each copy in the sequence. */
void tsr_slots_count_uses(tsr_scheduler *s);

/* Cuts the budgets into slots of so many bytes; uses must have been counted. */
tsr_status tsr_slots_init(tsr_scheduler *s, size_t bytes);
void tsr_slots_free(tsr_scheduler *s);

/* A slot for a tile at a device: its place goes to the buffer. False: none (s->no_room). */
bool tsr_slots_take(tsr_scheduler *s, tsr_tile_copy *copy, int device, tsr_buffer *buffer);

/* Whether a tile that is not at the device, but will be used there before long, can be brought
 * there now without pushing out what is used sooner. */
bool tsr_slots_welcome(tsr_scheduler *s, tsr_tile_copy *copy, int device);

/* Notes that a command uses the copy. */
bool tsr_slots_use(tsr_scheduler *s, tsr_tile_copy *copy, int32_t command);

/* Whether what is in the copy's slot is nowhere else. */
void tsr_slots_set_dirty(tsr_scheduler *s, tsr_tile_copy *copy, bool dirty);

/* The present task is over (s->now has passed it), which used the copy: notes when it is used next,
 * or gives the slot back if no later task uses the tile at its device. */
void tsr_slots_pass(tsr_scheduler *s, tsr_tile_copy *copy);

/* ---- rooms.c: what stays on devices between calls ---- */

tsr_status tsr_rooms_init(tsr_scheduler *s);
void tsr_rooms_free(tsr_scheduler *s);

/* Whether a matrix's tiles are in rooms: with residency, those that are at home in host memory. */
static inline bool tsr_has_rooms(const tsr_scheduler *s, int matrix) {
  return s->options->residency != NULL && matrix != TSR_W &&
         !tsr_is_device(s->machine, s->call->operand[matrix].location);
}

/* Gives a tile a place in a room at the device: one that it lies in, or a new one. */
bool tsr_rooms_place(tsr_scheduler *s, tsr_tile_copy *copy, tsr_buffer tile);

/* Whether a rectangle of a matrix has a place in one of the rooms that there are at the start. */
bool tsr_rooms_have(const tsr_scheduler *s, int matrix, tsr_rect rect, int device);

/* Finds the rooms that meet a rectangle of a matrix, by their numbers in plan->after:
 * s->room_index.found, until the next question. */
bool tsr_rooms_ask(tsr_scheduler *s, int matrix, tsr_rect rect);

/* Whether a room is one of those that there are at the start, and holds what it held then. */
static inline bool tsr_rooms_is_old(const tsr_scheduler *s, int32_t room) {
  return (size_t)room < s->options->residency->rooms.count;
}

/* The home of a rectangle of a matrix that has rooms is as new as any of them. */
bool tsr_rooms_home_is_current(tsr_scheduler *s, int matrix, tsr_rect rect);

/* The room of a tile copy that is in one. */
const tsr_room *tsr_rooms_of(const tsr_scheduler *s, const tsr_tile_copy *copy);

/* The buffer of a room; TSR_NOTHING: out of memory. */
int32_t tsr_rooms_buffer(tsr_scheduler *s, size_t room);

/* Writes down what is where when the plan has ended. */
bool tsr_rooms_finish(tsr_scheduler *s);

/* ---- homing.c ---- */

/* Brings a finished rectangle of C, or a triangle on its diagonal, home from the device after the
 * command `after`, now or together with others. */
bool tsr_homing_add(tsr_scheduler *s, const tsr_task_operand *part, tsr_uplo uplo, int device,
                    int32_t after);
/* Brings home what waits. */
bool tsr_homing_finish(tsr_scheduler *s);

/* ---- route*.c ---- */

tsr_status tsr_route_init(tsr_scheduler *s);
void tsr_route_free(tsr_scheduler *s);

/* A rectangle of a tile as an operand that is read. */
tsr_task_operand tsr_part_of_tile(int matrix, int32_t tile, tsr_rect rect);

/* Sees to it that the rectangle of a tile is, or will be, at the device; for tiles of A and B also
 * at the other devices that read them. */
bool tsr_route_fetch(tsr_scheduler *s, const tsr_task_operand *operand, int device);

/* Brings a rectangle of C, and nothing beside it, to its place at the device, as if it was written
 * there: beside it others may be writing. */
bool tsr_route_fetch_alone(tsr_scheduler *s, const tsr_task_operand *operand, int device);

/* Brings a rectangle of an operand that has rooms to its tile at the device, from wherever parts of
 * it are. */
bool tsr_route_gather(tsr_scheduler *s, const tsr_task_operand *operand, int device);

/* Brings home what is newer in rooms of a rectangle of C that is about to change, of which the
 * device (TSR_NOTHING: none) will bring home but a triangle. */
bool tsr_route_settle(tsr_scheduler *s, const tsr_task_operand *operand, int device);

/* Opens the tiles that lie in the rooms there are, so that others find what is in them. */
bool tsr_route_open_rooms(tsr_scheduler *s);

/* Calls visit for each piece of a tile that is, or will be, at the device. */
typedef bool (*tsr_piece_visitor)(tsr_scheduler *s, const tsr_tile_copy *copy, tsr_rect piece);
bool tsr_route_each_piece(tsr_scheduler *s, int matrix, int32_t tile, int device,
                          tsr_piece_visitor visit);

/* Brings a rectangle of W from a device, where kernels wrote it, to another one. */
bool tsr_route_collect(tsr_scheduler *s, const tsr_task_operand *operand, int from, int to);

/* Makes the next command wait for the pieces of the rectangle that were fetched to the device.
 * Whether these are all pieces of the tile. */
bool tsr_route_wait(tsr_scheduler *s, const tsr_task_operand *operand, int device);

/* Brings a rectangle of C, or a triangle on its diagonal, from the device to its home after the
 * command `after`. */
bool tsr_route_bring_home(tsr_scheduler *s, const tsr_task_operand *operand, tsr_uplo uplo,
                          int device, int32_t after);

/* Estimated time at which everything that a group reads and its device lacks could be there. */
float tsr_route_group_eta(tsr_scheduler *s, const tsr_group *group);

#endif
