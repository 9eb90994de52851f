/*
 * The outbox: two tabs and a service worker deliver what is on the disk. Orders 0 and 1 are Ann's, in one
 * scope: 0 before 1. Order 2 is Ben's, who signs in after her on the same device.
 *
 * A worker claims a row, writes that it is about to send it, sends it, waits for the answer, and writes what
 * became of it. It may crash before each of these. Another may take a row over at any time: from a worker
 * that was silent for long, which still runs. Each write asks in its own transaction whether the row is still
 * its own.
 */

#define ORDERS 3
#define VERSIONS 2

#define ann 0
#define ben 1
#define user_of(o) ((o) == 2)

mtype:row = { absent, due, gone, delivered, dead };

typedef Row {
  mtype:row state = absent;
  byte owner;    /* the worker that sends it, or 0 */
  bool noted;    /* a request of it may have gone */
  byte version   /* of its key */
};

Row rows[3];
/* Whose cookies the browser has, and for whom each worker was started. */
byte signed_in = ann;
byte started_for[SENDERS + 1];
/* Outside of the database: Ann's entries are being cleared. */
bool clear_mark;
byte takeovers = TAKEOVERS, retries = RETRIES;

#define is_over(o) (rows[o].state != due)

/* In the order of their scope. */
#define is_in_order(o) (o != 0 || effects[1] == 0)

#include "server.pml"

inline tell(x, word) {
  told[x] = word;
  printf("|%d|user|order %d: word %d\n", me, x, word);
  assert(word != failed || effects[x] == 0);  /* never told failed when done */
  assert(word != done || effects[x] == 1)     /* never told done when not */
}

#ifdef NO_ORDER_IN_A_SCOPE
#define is_head(o) true
#else
#define is_head(o) (o != 1 || rows[0].state == delivered || rows[0].state == gone)
#endif

#define may_take(o) \
  (rows[o].state == due && started_for[me] == user_of(o) && !(clear_mark && user_of(o) == ann) && is_head(o) && \
   (rows[o].owner == 0 || (rows[o].owner != me && !well && takeovers > 0)))

inline take(x) {
  if :: rows[x].owner != 0 -> takeovers-- :: else fi;
  rows[x].owner = me;
  mine = x;
  printf("|%d|disk|takes order %d\n", me, x)
}

#ifdef NO_FENCING_ON_THE_DISK
#define is_mine (rows[mine].state == due)
#else
#define is_mine (rows[mine].state == due && rows[mine].owner == me)
#endif

/* All that a worker knows besides the disk is gone. The browser frees its locks. */
inline crash() {
  crashes--;
  printf("|%d|%d|crashes\n", me, me);
  stop_waiting(me);
#ifndef LOCK_FOR_EVER
  if :: rows[0].owner == me -> rows[0].owner = 0 :: else fi;
  if :: rows[1].owner == me -> rows[1].owner = 0 :: else fi;
  if :: rows[2].owner == me -> rows[2].owner = 0 :: else fi;
#endif
#ifdef NOT_SAVED_FIRST
  if :: rows[mine].state == due -> rows[mine].state = gone; assert(false) :: else fi;
#endif
  mine = 0; doubt = 0; what = nothing;
  started_for[me] = signed_in
}

#define may_crash (!well && crashes > 0)

inline leave_row() {
  rows[mine].owner = 0
}

inline set_dead(word) {
  rows[mine].state = dead; rows[mine].owner = 0;
  tell(mine, word)
}

inline transmit() {
  /* Nothing of one user goes with the credentials of another. */
  assert(user_of(mine) == signed_in);
#ifdef KEY_PER_ATTEMPT
  put_on_wire(mine, (doubt -> 1 : 0), me);
#else
  put_on_wire(mine, rows[mine].version, me);
#endif
#ifdef DONE_WHEN_SENT
  rows[mine].state = delivered; rows[mine].owner = 0;
  tell(mine, done)
#endif
}

#ifdef KEY_SENT_WHEN_OLD
#define is_expired false
#else
#define is_expired (rows[mine].noted && old)
#endif

#ifdef REFUSAL_IS_FINAL
#define proves_nothing false
#else
#define proves_nothing doubt
#endif

proctype Worker(byte me) {
  byte mine;
  /* A request before this one may have been done. */
  bool doubt;
  mtype:answer what = nothing;

end_idle:
  do
  :: d_step { may_take(0) -> take(0) } -> break
  :: d_step { may_take(1) -> take(1) } -> break
  :: d_step { may_take(2) -> take(2) } -> break
  /* It hears that somebody else has signed in. */
  :: d_step { started_for[me] != signed_in -> started_for[me] = signed_in; printf("|%d|%d|hears who has signed in\n", me, me) }
  od;

  /* The note, and the request in the same task. */
  if
  :: d_step { may_crash -> crash() } -> goto end_idle
  :: d_step { !is_mine -> mine = 0; printf("|disk|%d|not its own any more\n", me) } -> goto end_idle
  :: d_step { is_mine && is_expired -> set_dead(unknown); mine = 0 } -> goto end_idle
  :: d_step {
       is_mine && !is_expired && has_room ->
       doubt = rows[mine].noted;
#ifndef NO_NOTE_BEFORE_SENDING
       rows[mine].noted = 1;
       printf("|%d|disk|notes order %d\n", me, mine);
#endif
#ifndef NOTE_LONG_BEFORE_SENDING
       transmit()
#endif
     }
  fi;

#ifdef NOTE_LONG_BEFORE_SENDING
  if
  :: d_step { may_crash -> crash() } -> goto end_idle
  :: d_step { has_room -> transmit() }
  fi;
#endif

  if
  :: d_step { may_crash -> crash() } -> goto end_idle
  :: d_step { answers[me] != nothing -> what = answers[me]; stop_waiting(me) }
  :: d_step { answers[me] == nothing && (!well || !is_due(me)) -> stop_waiting(me); printf("|%d|%d|no answer in time\n", me, me) }
  fi;

  if
  :: d_step { may_crash -> crash() } -> goto end_idle
#ifdef WRITES_WHAT_IS_ABSENT
  :: d_step { rows[mine].state == gone && what != ok -> rows[mine].state = due; rows[mine].owner = 0; printf("|%d|disk|writes order %d again\n", me, mine) }
#endif
  :: d_step { !is_mine -> skip }
  :: d_step { is_mine && what == ok -> rows[mine].state = delivered; rows[mine].owner = 0; tell(mine, done) }
  :: d_step { is_mine && what == stored_refusal -> set_dead(failed) }
  :: d_step { is_mine && what == refused && proves_nothing -> set_dead(unknown) }
  :: d_step { is_mine && what == refused && !proves_nothing -> set_dead(failed) }
  :: d_step {
       is_mine && what == busy ->
#ifdef NEW_KEY_WHEN_BUSY
       rows[mine].version = 1;
#endif
       leave_row()
     }
#ifdef TIMEOUT_IS_FAILURE
  :: d_step { is_mine && what == nothing -> set_dead(failed) }
#else
  :: d_step { is_mine && what == nothing -> leave_row() }
#endif
  fi;
  atomic { mine = 0; doubt = 0; what = nothing };
  goto end_idle
}

/* Ann submits both orders. She may send again what has surely not been done, and sign out; then Ben orders. */
active proctype User() {
  atomic {
    rows[0].state = due; rows[1].state = due;
    told[0] = saved; told[1] = saved;
    printf("|user|disk|orders 0 and 1 are saved\n");
    run Worker(1); run Worker(2);
#if SENDERS > 2
    run Worker(3);
#endif
  };
end:
  do
  /* "Send again": another key, for nothing was done with the old one. */
  :: d_step {
       told[0] == failed && rows[0].version == 0 && rows[0].state == dead && retries > 0 ->
       retries--; rows[0].version = 1; rows[0].noted = 0; rows[0].state = due; told[0] = saved;
       printf("|user|disk|sends order 0 again\n")
     }
#ifdef LOGOUT
  :: d_step { signed_in == ann && !clear_mark -> clear_mark = 1; printf("|user|disk|signs out: a mark stops all tabs\n") }
#ifdef ENTRIES_KEPT_AT_LOGOUT
  :: d_step { clear_mark && signed_in == ann -> clear_mark = 0; signed_in = ben }
#else
  :: d_step {
       clear_mark && signed_in == ann ->
       if :: rows[0].state == due || rows[0].state == dead -> rows[0].state = gone; told[0] = cleared :: else fi;
       if :: rows[1].state == due || rows[1].state == dead -> rows[1].state = gone; told[1] = cleared :: else fi;
       rows[0].owner = 0; rows[1].owner = 0;
       clear_mark = 0; signed_in = ben;
       printf("|user|disk|the entries of Ann are cleared, and Ben signs in\n");
       rows[2].state = due; told[2] = saved;
       printf("|user|disk|order 2, of Ben, is saved\n")
     }
#endif
#endif
  od
}

#define settled (is_over(0) && (is_over(1) || rows[0].state == dead) && is_over(2))
#ifdef LIVE
ltl ends { [] (well -> <> settled) }
#endif
