// A network simulated by fsin, as a back end of ASTRA-sim.
//
// Messages match by tag, source, destination and size, in the order of the calls. A send is complete when its message has
// arrived; a receive is complete then too, or at once if the message is there already. A message of a rank to itself
// arrives at the same time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

// That of ASTRA-sim, where its folder is searched for headers (`-I astra-sim`); else that of a folder which has it directly,
// such as `stand-in`. Never in quotes: these would find a file beside this one first.
#if __has_include(<astra-sim/common/AstraNetworkAPI.hh>)
#include <astra-sim/common/AstraNetworkAPI.hh>
#elif __has_include(<astra-sim/system/AstraNetworkAPI.hh>)
#include <astra-sim/system/AstraNetworkAPI.hh>
#else
#include <AstraNetworkAPI.hh>
#endif

namespace AstraSim {

/// The network that all ranks share, and the loop of its events.
class FsinFabric {
 public:
  struct Callback {
    void (*function)(void*);
    void* argument;
    void operator()() const {
      if (function != nullptr) function(argument);
    }
  };

  /// Tag, source, destination, bytes.
  using Match = std::tuple<int, int, int, uint64_t>;

  /// A network of these settings, as in an experiment file. Throws std::runtime_error with the reason.
  explicit FsinFabric(const std::string& settings);
  ~FsinFabric();
  FsinFabric(const FsinFabric&) = delete;
  FsinFabric& operator=(const FsinFabric&) = delete;

  /// Number of nodes, one for each rank.
  int nodes() const;
  /// Time in ps.
  uint64_t time() const;

  void send(const Match& match, Callback sent);
  void receive(const Match& match, Callback received);
  void schedule(uint64_t delay_ps, Callback callback);

  /// Calls what is due until nothing can happen any more. Returns the number of receives without a message.
  size_t run();

 private:
  /// A message under way, or a timer.
  struct Pending {
    bool is_message;
    Match match;
    Callback callback;
  };

  uint64_t add(Pending pending);
  void arrived(const Match& match);

  uint64_t network_;
  uint64_t count_ = 0;
  std::map<uint64_t, Pending> pending_;
  std::map<Match, std::deque<Callback>> receives_;
  /// Messages that have arrived and that no receive has asked for.
  std::map<Match, size_t> unexpected_;
};

/// The network as one rank sees it.
class FsinNetwork : public AstraNetworkAPI {
 public:
  FsinNetwork(int rank, std::shared_ptr<FsinFabric> fabric) : AstraNetworkAPI(rank), fabric_(std::move(fabric)) {}

  int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, sim_request* request,
               void (*msg_handler)(void* fun_arg), void* fun_arg) override;
  int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, sim_request* request,
               void (*msg_handler)(void* fun_arg), void* fun_arg) override;
  void sim_schedule(timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) override;
  timespec_t sim_get_time() override;

 private:
  std::shared_ptr<FsinFabric> fabric_;
};

}  // namespace AstraSim
