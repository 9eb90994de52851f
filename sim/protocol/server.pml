/*
 * The network and the server, for both clients.
 *
 * The network loses, delays, reorders and doubles requests, and loses answers. The server keeps a record for
 * each key: free, leased to a handler that runs, or the stored answer. The effect and the answer are kept in
 * one transaction, for as long as the lease is the handler's. A lease ends some time after its handler has
 * crashed; it may also end while the handler still runs.
 */

mtype:answer = { nothing, ok, refused, stored_refusal, busy };
mtype:record = { free, leased, kept_ok, kept_refusal };
mtype:told = { not_asked, saved, done, failed, unknown, cleared };

typedef Message {
  bool used;
  byte order;    /* what the user means */
  byte version;  /* of its key */
  byte from;     /* the sender that waits for the answer; 0 once none does */
  bool twin      /* a proxy has sent it twice */
};

typedef Handler {
  bool used;
  byte order;
  byte version;
  byte from;
  byte token     /* of its lease */
};

typedef Record {
  mtype:record state = free;
  byte token     /* of the newest lease */
};

Message net[2];
Handler handlers[2];
Record records[ORDERS * VERSIONS];
mtype:answer answers[SENDERS + 1] = nothing;
mtype:told told[ORDERS] = not_asked;
byte effects[ORDERS];

/* From here on nothing is lost, late or doubled, and nothing crashes. */
bool well;
/* The keys are as old as the API keeps them. */
bool old;
/* So often each trouble may still come. */
byte doubles = DOUBLES, crashes = CRASHES, lost_handlers = HANDLER_CRASHES, early_ends = EARLY_ENDS;

#define key_of(x, y) ((x) * VERSIONS + (y))
#define has_room (!net[0].used || !net[1].used)
#define in_flight(x, y) \
  ((net[0].used && net[0].order == x && net[0].version == y) || \
   (net[1].used && net[1].order == x && net[1].version == y) || \
   (handlers[0].used && handlers[0].order == x && handlers[0].version == y) || \
   (handlers[1].used && handlers[1].order == x && handlers[1].version == y))
/* The answer to a sender may still come. */
#define is_due(who) \
  (net[0].from == who || net[1].from == who || handlers[0].from == who || handlers[1].from == who || \
   answers[who] != nothing)
#define runs_in(h, x, y, t) (handlers[h].used && handlers[h].order == x && handlers[h].version == y && handlers[h].token == t)
#define runs0(x, y, t) runs_in(0, x, y, t)
#define runs1(x, y, t) runs_in(1, x, y, t)
#define runs(x, y, t) (runs0(x, y, t) || runs1(x, y, t))

inline free_message(i) {
  net[i].used = 0; net[i].order = 0; net[i].version = 0; net[i].from = 0; net[i].twin = 0
}

inline free_handler(h) {
  handlers[h].used = 0; handlers[h].order = 0; handlers[h].version = 0; handlers[h].from = 0; handlers[h].token = 0
}

inline put_on_wire(x, y, who) {
  if
  :: !net[0].used -> net[0].used = 1; net[0].order = x; net[0].version = y; net[0].from = who
  :: else -> net[1].used = 1; net[1].order = x; net[1].version = y; net[1].from = who
  fi;
  printf("|%d|net|order %d, key %d.%d\n", who, x, x, y)
}

/* An answer that comes late is of no use to a sender that waits no more. */
inline stop_waiting(who) {
  if :: net[0].from == who -> net[0].from = 0 :: else fi;
  if :: net[1].from == who -> net[1].from = 0 :: else fi;
  if :: handlers[0].from == who -> handlers[0].from = 0 :: else fi;
  if :: handlers[1].from == who -> handlers[1].from = 0 :: else fi;
  answers[who] = nothing
}

/* The order and the key of a message, or of a handler. */
#define o(m) m[i].order
#define v(m) m[i].version
#define who(m) m[i].from
#define record_of(m) records[key_of(o(m), v(m))]

/* The answer of a message or a handler. That it is lost on its way is the same as a sender that waits no more. */
#define reply(m, word) \
  if \
  :: who(m) != 0 -> answers[who(m)] = word; printf("|srv|%d|answer %d\n", who(m), word) \
  :: else -> printf("|srv|x|answer %d: too late\n", word) \
  fi

#define take_effect(m) \
  effects[o(m)]++; \
  printf("|srv|srv|order %d is done\n", o(m)); \
  assert(effects[o(m)] == 1);      /* never twice */ \
  assert(told[o(m)] != failed);    /* never done after it was told failed */ \
  assert(is_in_order(o(m)))

inline arrive_again(word) {
  printf("|net|srv|order %d, key %d.%d: again\n", o(net), o(net), v(net));
  reply(net, word);
  free_message(i)
}

inline start_handler(h) {
  handlers[h].used = 1; handlers[h].order = o(net); handlers[h].version = v(net); handlers[h].from = who(net);
  if
  :: h == 1 && runs0(o(net), v(net), 1) -> handlers[h].token = 2
  :: h == 0 && runs1(o(net), v(net), 1) -> handlers[h].token = 2
  :: else -> handlers[h].token = 1
  fi;
  record_of(net).state = leased; record_of(net).token = handlers[h].token;
  printf("|net|srv|order %d, key %d.%d: a handler begins\n", o(net), o(net), v(net));
#ifdef EFFECT_OUTSIDE_TRANSACTION
  take_effect(net);
#endif
  free_message(i)
}

/* A place on the wire. */
active [2] proctype Wire() {
  byte i = _pid;
end:
  do
  :: d_step {
       net[i].used && !well && !net[i].twin ->
       printf("|net|x|the request for order %d is lost\n", net[i].order);
       free_message(i)
     }
  :: d_step {
       net[i].used && !well && doubles > 0 && !net[1 - i].used ->
       doubles--;
       net[1 - i].used = 1; net[1 - i].order = net[i].order; net[1 - i].version = net[i].version;
       net[1 - i].from = net[i].from;
       net[0].twin = 1; net[1].twin = 1;
       printf("|net|net|a proxy sends the request for order %d twice\n", net[i].order)
     }
  /* A gateway, or a check of the session: nothing is done, and nothing is kept under the key. */
  :: d_step {
       net[i].used && !well && !net[i].twin ->
       printf("|net|srv|order %d, key %d.%d: refused before its handler\n", o(net), o(net), v(net));
       reply(net, refused);
       free_message(i)
     }
  :: d_step { net[i].used && record_of(net).state == kept_ok -> arrive_again(ok) }
  :: d_step { net[i].used && record_of(net).state == kept_refusal -> arrive_again(stored_refusal) }
  :: d_step { net[i].used && record_of(net).state == leased -> arrive_again(busy) }
  :: d_step { net[i].used && record_of(net).state == free && !handlers[0].used -> start_handler(0) }
  :: d_step { net[i].used && record_of(net).state == free && handlers[0].used && !handlers[1].used -> start_handler(1) }
  od
}

#ifdef NO_FENCING_AT_SERVER
#define is_leased true
#else
#define is_leased (record_of(handlers).state == leased && record_of(handlers).token == handlers[i].token)
#endif

/* A handler. */
active [2] proctype Handling() {
  byte i = _pid - 2;
end:
  do
  :: d_step {
       handlers[i].used && is_leased ->
#ifndef EFFECT_OUTSIDE_TRANSACTION
       take_effect(handlers);
#endif
       record_of(handlers).state = kept_ok;
       reply(handlers, ok);
       free_handler(i)
     }
  :: d_step {
       handlers[i].used && is_leased ->
       record_of(handlers).state = kept_refusal;
       printf("|srv|srv|order %d is refused\n", o(handlers));
       reply(handlers, refused);
       free_handler(i)
     }
  :: d_step {
       handlers[i].used && is_leased && !well ->
       record_of(handlers).state = free;
       printf("|srv|srv|order %d fails, and is rolled back\n", o(handlers));
       free_handler(i)
     }
  :: d_step { handlers[i].used && !is_leased -> reply(handlers, busy); free_handler(i) }
  :: d_step {
       handlers[i].used && !well && lost_handlers > 0 ->
       lost_handlers--;
       printf("|srv|srv|the handler of order %d crashes\n", handlers[i].order);
       free_handler(i)
     }
  od
}

#define has_handler(x, y) (runs(x, y, 1) || runs(x, y, 2))
#define lease_may_end(x, y) \
  (records[key_of(x, y)].state == leased && (!has_handler(x, y) || (!well && early_ends > 0)))

inline end_lease(x, y) {
  if :: has_handler(x, y) -> early_ends-- :: else fi;
  records[key_of(x, y)].state = free; records[key_of(x, y)].token = 0;
  printf("|srv|srv|the lease of key %d.%d is over\n", x, y)
}

#ifdef FORGETS_EARLY
#define is_forgotten(x, y) (!old && !in_flight(x, y) && records[key_of(x, y)].state == kept_ok)
#else
#define is_forgotten(x, y) \
  (old && !in_flight(x, y) && (records[key_of(x, y)].state == kept_ok || records[key_of(x, y)].state == kept_refusal))
#endif

inline forget(x, y) {
  records[key_of(x, y)].state = free; records[key_of(x, y)].token = 0;
  printf("|srv|srv|the key %d.%d is forgotten\n", x, y)
}

/* What the server does by itself, and time. */
active proctype Server() {
end:
  do
  :: d_step { lease_may_end(0, 0) -> end_lease(0, 0) }
  :: d_step { lease_may_end(1, 0) -> end_lease(1, 0) }
  :: d_step { is_forgotten(0, 0) -> forget(0, 0) }
  :: d_step { is_forgotten(1, 0) -> forget(1, 0) }
#if VERSIONS > 1
  :: d_step { lease_may_end(0, 1) -> end_lease(0, 1) }
  :: d_step { lease_may_end(1, 1) -> end_lease(1, 1) }
  :: d_step { is_forgotten(0, 1) -> forget(0, 1) }
  :: d_step { is_forgotten(1, 1) -> forget(1, 1) }
#endif
#if ORDERS > 2
  :: d_step { lease_may_end(2, 0) -> end_lease(2, 0) }
  :: d_step { is_forgotten(2, 0) -> forget(2, 0) }
#endif
#if AGES
  :: d_step { !old -> old = 1; printf("|world|world|the keys are as old as the API keeps them\n") }
#endif
#ifdef LIVE
  :: d_step { !well -> well = 1; printf("|world|world|from here on all is well\n") }
#endif
  od
}
