/*
 * A form: a user before a page, which may be reloaded at any moment, and a copy of its tab. The tab keeps
 * what may have been done, before it is sent and over a reload.
 *
 * The user presses Submit until the order has succeeded or surely failed. Another press after that means
 * another order. So does a confirmed question, where the outcome cannot be found out any more.
 */

#define ORDERS 3
#define VERSIONS 2
#define SENDERS 2

#define is_in_order(x) true

#include "server.pml"

typedef Tab {
  bool is_open;
  byte order;      /* what the user means */
  byte version;    /* of its key */
  bool is_known;   /* kept in the storage of the tab: it may have been done */
  bool is_sending
};

Tab tabs[3];
byte newest;
byte copies = COPIES;

#define tab tabs[me]
#define is_settled(x) (told[x] == done || told[x] == failed)

inline tell(x, word) {
  /* A tab that knows less does not take back what another has said. */
  if :: !is_settled(x) -> told[x] = word :: else fi;
  printf("|%d|user|order %d: word %d\n", me, x, word);
  assert(word != failed || effects[x] == 0);  /* never told failed when done */
  assert(word != done || effects[x] == 1)     /* never told done when not */
}

#define may_crash (!well && crashes > 0)

inline reload() {
  crashes--;
  printf("|%d|%d|is reloaded\n", me, me);
  stop_waiting(me);
  tab.is_sending = 0;
  doubt = 0; what = nothing
}

inline next_order() {
  newest++;
  tab.order = newest; tab.version = 0
}

inline transmit() {
  put_on_wire(tab.order, tab.version, me)
}

inline end_press() {
  tab.is_sending = 0; doubt = 0; what = nothing
}

#ifdef EXPIRED_KEY_IS_SENT
#define is_expired false
#else
#define is_expired old
#endif

#ifdef REFUSAL_IS_FINAL
#define proves_nothing false
#else
#define proves_nothing doubt
#endif

#ifdef COPIED_WHILE_SENDING
#define may_be_copied tabs[1].is_known
#else
#define may_be_copied (tabs[1].is_known && !tabs[1].is_sending)
#endif

proctype Page(byte me) {
  bool doubt;
  mtype:answer what = nothing;

end_idle:
  if
  /* Nothing is known: a new key. It is kept before the request goes. */
  :: d_step {
       tab.is_open && !tab.is_known && has_room && is_settled(tab.order) && newest < ORDERS - 1 ->
       printf("|user|%d|means another order\n", me);
       next_order();
       tab.is_sending = 1;
#ifndef NOT_KEPT_FIRST
       tab.is_known = 1;
#endif
       transmit()
     }
  :: d_step {
       tab.is_open && !tab.is_known && has_room && !is_settled(tab.order) && tab.version == 0 ->
       printf("|user|%d|presses Submit\n", me);
       if :: told[tab.order] != not_asked -> tab.version = 1 :: else fi;
       told[tab.order] = saved;
       tab.is_sending = 1;
#ifndef NOT_KEPT_FIRST
       tab.is_known = 1;
#endif
       transmit()
     }
  /* It may have been done: the same key. */
  :: d_step {
       tab.is_open && tab.is_known && !is_expired && has_room ->
       printf("|user|%d|presses Submit again\n", me);
       doubt = 1; tab.is_sending = 1;
#ifdef KEY_PER_PRESS
       tab.version = 1;
#endif
       transmit()
     }
  /* Its key may be forgotten: the page asks, and the user means another one. */
  :: d_step {
       tab.is_open && tab.is_known && is_expired && has_room && newest < ORDERS - 1 ->
       printf("|user|%d|confirms: another order, whatever has become of order %d\n", me, tab.order);
       next_order();
       tab.is_sending = 1;
       transmit()
     }
  :: d_step { tab.is_open && may_crash && tab.is_known -> reload() } -> goto end_idle
  :: d_step {
       me == 2 && !tab.is_open && copies > 0 && may_be_copied ->
       copies--;
       tab.is_open = 1; tab.order = tabs[1].order; tab.version = tabs[1].version; tab.is_known = 1;
       printf("|user|2|copies the tab\n")
     } -> goto end_idle
  fi;

wait:
  if
  :: d_step { may_crash -> reload() } -> goto end_idle
  :: d_step { answers[me] != nothing -> what = answers[me]; stop_waiting(me) }
  :: d_step { answers[me] == nothing && (!well || !is_due(me)) -> stop_waiting(me); printf("|%d|%d|no answer in time\n", me, me) }
  fi;

  if
  :: d_step { may_crash -> reload() } -> goto end_idle
  :: d_step { what == ok -> tab.is_known = 0; tell(tab.order, done); end_press() }
  :: d_step { what == stored_refusal -> tab.is_known = 0; tell(tab.order, failed); end_press() }
  :: d_step { what == refused && !proves_nothing -> tab.is_known = 0; tell(tab.order, failed); end_press() }
  :: d_step { what == refused && proves_nothing -> tell(tab.order, unknown); end_press() }
  /* It is tried again by itself, or its outcome is unknown. */
  :: d_step { what == busy && has_room && !old -> doubt = 1; what = nothing; transmit() } -> goto wait
#ifdef TIMEOUT_IS_FAILURE
  :: d_step { what == nothing -> tab.is_known = 0; tell(tab.order, failed); end_press() }
#else
  :: d_step { what == nothing && has_room && !old -> doubt = 1; transmit() } -> goto wait
#endif
#ifdef UNKNOWN_IS_FORGOTTEN
  :: d_step { what == nothing -> tab.is_known = 0; tell(tab.order, unknown); end_press() }
#else
  :: d_step { what == nothing || what == busy -> tell(tab.order, unknown); end_press() }
#endif
  fi;
  goto end_idle
}

active proctype User() {
  atomic {
    tabs[1].is_open = 1;
    run Page(1); run Page(2)
  }
}

#define is_told(x) (told[x] == done || told[x] == failed || told[x] == unknown || told[x] == not_asked)
#ifdef LIVE
ltl ends { [] (well -> <> (!tabs[1].is_sending && !tabs[2].is_sending)) }
#endif
