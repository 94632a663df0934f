/* The C library of fsin: messages of a program through a simulated network.
 *
 * Written of the sources: UPDATE_HEADER=1 cargo test -p fsin-c header
 *
 * A network is a number. Times are picoseconds from its creation. Every call may come from any thread; calls of one
 * network wait for each other. A call that fails returns what its comment says, and fsin_error() tells why.
 */
#ifndef FSIN_H
#define FSIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A time that never comes: fsin_advance to it ends when nothing can happen any more.
#define FSIN_FOREVER UINT64_MAX

// Kind of an event: a message has arrived in full.
#define FSIN_DELIVERED 1

// Kind of an event: the network has lost a message, which will never arrive.
#define FSIN_LOST 2

// Kind of an event: a time that was scheduled has come.
#define FSIN_TIMER 3

// What has happened. Timers have a time, a since, and a cookie; else they are 0.
typedef struct fsin_event {
  // When: the time of the network.
  uint64_t time_ps;
  // When the message was sent, or the timer set.
  uint64_t since_ps;
  // Size of the message.
  uint64_t bytes;
  // Tag of the message.
  uint64_t tag;
  // What the sender, or the setter of the timer, has given to know it by.
  uint64_t cookie;
  // The node that sent the message.
  uint32_t src;
  // The node that it goes to.
  uint32_t dst;
  // FSIN_DELIVERED, FSIN_LOST or FSIN_TIMER.
  uint32_t kind;
} fsin_event;

// Creates a network from settings: the keys of fsin run that concern the network, bandwidth, phit-bytes and seed,
// one key = value a line, words in quotes, as in an experiment file. An empty text is the default network.
//
// Returns its number; 0 on failure.
uint64_t fsin_open(const char *settings);

// Ends a network, with all that is underway in it. Returns 0; -1 on failure.
int fsin_close(uint64_t network);

// Number of nodes, which are numbered from 0; 0 on failure.
uint32_t fsin_nodes(uint64_t network);

// The time of the network in ps; FSIN_FOREVER on failure.
uint64_t fsin_time(uint64_t network);

// Sends a message now. tag and cookie mean nothing to the network and return with the arrival.
//
// Returns 0; -1 on failure: a node that is not there, a message to itself where the network carries none, or one of more
// than 2^40 bytes.
int fsin_send(uint64_t network, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t tag, uint64_t cookie);

// Sets a timer, which makes an event after delay_ps. Returns 0; -1 on failure.
int fsin_schedule(uint64_t network, uint64_t delay_ps, uint64_t cookie);

// Lets time pass until something happens, or until until_ps, whichever comes first.
//
// Returns 1 if there are events to poll, all of this time; 0 if it is until_ps and there are none, or if until_ps is
// FSIN_FOREVER and nothing can happen any more; -1 on failure: a time that has passed, a network in deadlock.
int fsin_advance(uint64_t network, uint64_t until_ps);

// Takes the next event of this time. Returns 1; 0 if there is none; -1 on failure.
int fsin_poll(uint64_t network, fsin_event *event);

// Why the last call of this thread that failed has failed, with the remedy: a text that is valid until the next call of
// this thread that fails. Empty if none has failed.
const char *fsin_error(void);

// The version of the library, such as 0.2.0.
const char *fsin_version(void);

#ifdef __cplusplus
}
#endif

#endif
