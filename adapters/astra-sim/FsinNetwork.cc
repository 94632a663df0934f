#include "FsinNetwork.hh"

#include <fsin.h>

#include <cmath>
#include <stdexcept>

namespace AstraSim {

namespace {

/// Throws the error of the last call of the library.
[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + fsin_error()); }

/// A time in ps, rounded up.
uint64_t picoseconds(timespec_t time) {
  long double unit = 1;
  switch (time.time_res) {
    case SE: unit = 1e12L; break;
    case MS: unit = 1e9L; break;
    case US: unit = 1e6L; break;
    case NS: unit = 1e3L; break;
    case FS: unit = 1e-3L; break;
  }
  const long double exact = std::ceil(time.time_val * unit);
  if (!(exact >= 0 && exact < 0x1p63L)) throw std::runtime_error("sim_schedule: a delay below 0, or beyond 2^63 ps");
  return static_cast<uint64_t>(exact);
}

}  // namespace

FsinFabric::FsinFabric(const std::string& settings) : network_(fsin_open(settings.c_str())) {
  if (network_ == 0) fail("fsin_open");
}

FsinFabric::~FsinFabric() { fsin_close(network_); }

int FsinFabric::nodes() const { return static_cast<int>(fsin_nodes(network_)); }

uint64_t FsinFabric::time() const { return fsin_time(network_); }

uint64_t FsinFabric::add(Pending pending) {
  pending_.emplace(count_, std::move(pending));
  return count_++;
}

void FsinFabric::send(const Match& match, Callback sent) {
  const auto& [tag, source, destination, bytes] = match;
  const uint64_t cookie = add({true, match, sent});
  const auto node = [](int rank) { return static_cast<uint32_t>(rank); };
  const int failed = source == destination
                         ? fsin_schedule(network_, 0, cookie)
                         : fsin_send(network_, node(source), node(destination), bytes, static_cast<uint64_t>(tag), cookie);
  if (failed) {
    pending_.erase(cookie);
    fail("sim_send");
  }
}

void FsinFabric::receive(const Match& match, Callback received) {
  const auto message = unexpected_.find(match);
  if (message == unexpected_.end()) {
    receives_[match].push_back(received);
    return;
  }
  if (--message->second == 0) unexpected_.erase(message);
  received();
}

void FsinFabric::schedule(uint64_t delay_ps, Callback callback) {
  const uint64_t cookie = add({false, {}, callback});
  if (fsin_schedule(network_, delay_ps, cookie) != 0) {
    pending_.erase(cookie);
    fail("sim_schedule");
  }
}

void FsinFabric::arrived(const Match& match) {
  const auto waiting = receives_.find(match);
  if (waiting == receives_.end()) {
    unexpected_[match]++;
    return;
  }
  const Callback received = waiting->second.front();
  waiting->second.pop_front();
  if (waiting->second.empty()) receives_.erase(waiting);
  received();
}

size_t FsinFabric::run() {
  int happened;
  while ((happened = fsin_advance(network_, FSIN_FOREVER)) == 1) {
    fsin_event event;
    while (fsin_poll(network_, &event) == 1) {
      const auto found = pending_.find(event.cookie);
      const Pending pending = found->second;
      pending_.erase(found);
      if (event.kind == FSIN_LOST) throw std::runtime_error("the network has lost a message, and nobody sends it again");
      pending.callback();
      if (pending.is_message) arrived(pending.match);
    }
  }
  if (happened < 0) fail("fsin_advance");
  size_t unmatched = 0;
  for (const auto& [match, waiting] : receives_) unmatched += waiting.size();
  return unmatched;
}

int FsinNetwork::sim_send(void*, uint64_t count, int, int dst, int tag, sim_request*, void (*msg_handler)(void*),
                          void* fun_arg) {
  fabric_->send({tag, rank, dst, count}, {msg_handler, fun_arg});
  return 0;
}

int FsinNetwork::sim_recv(void*, uint64_t count, int, int src, int tag, sim_request*, void (*msg_handler)(void*),
                          void* fun_arg) {
  fabric_->receive({tag, src, rank, count}, {msg_handler, fun_arg});
  return 0;
}

void FsinNetwork::sim_schedule(timespec_t delta, void (*fun_ptr)(void*), void* fun_arg) {
  fabric_->schedule(picoseconds(delta), {fun_ptr, fun_arg});
}

timespec_t FsinNetwork::sim_get_time() { return {NS, static_cast<long double>(fabric_->time()) / 1000}; }

}  // namespace AstraSim
