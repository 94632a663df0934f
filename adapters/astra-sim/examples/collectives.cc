// A ping-pong of two ranks, and an all-reduce of all ranks in a ring, over the interface of ASTRA-sim.
//
//     collectives SETTINGS BYTES
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "FsinNetwork.hh"

using namespace AstraSim;

namespace {

using Ranks = std::vector<std::unique_ptr<AstraNetworkAPI>>;

/// Sends there and back.
void ping_pong(Ranks& ranks, uint64_t bytes) {
  struct Back {
    AstraNetworkAPI& rank;
    uint64_t bytes;
  };
  static void (*const nothing)(void*) = [](void*) {};
  auto* back = new Back{*ranks[1], bytes};
  ranks[0]->sim_recv(nullptr, bytes, 0, 1, 2, nullptr, nothing, nullptr);
  ranks[0]->sim_send(nullptr, bytes, 0, 1, 1, nullptr, nothing, nullptr);
  ranks[1]->sim_recv(
      nullptr, bytes, 0, 0, 1, nullptr,
      [](void* argument) {
        std::unique_ptr<Back> back(static_cast<Back*>(argument));
        back->rank.sim_send(nullptr, back->bytes, 0, 0, 2, nullptr, nothing, nullptr);
      },
      back);
}

/// A rank of an all-reduce in a ring: in each of 2 (n - 1) steps it sends an n-th of the data to its right neighbour, and
/// the next step begins when that of its left neighbour has come.
struct Ring {
  AstraNetworkAPI* network;
  int ranks;
  uint64_t bytes;
  int step;

  void next() {
    if (step == 2 * (ranks - 1)) return network->sim_notify_finished();
    const int rank = network->sim_comm_get_rank();
    network->sim_recv(
        nullptr, bytes, 0, (rank + ranks - 1) % ranks, step, nullptr,
        [](void* ring) { static_cast<Ring*>(ring)->next(); }, this);
    network->sim_send(
        nullptr, bytes, 0, (rank + 1) % ranks, step, nullptr, [](void*) {}, nullptr);
    step++;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SETTINGS BYTES\n", argv[0]);
    return 2;
  }
  const uint64_t bytes = std::strtoull(argv[2], nullptr, 10);
  auto fabric = std::make_shared<FsinFabric>(argv[1]);
  Ranks ranks;
  for (int rank = 0; rank < fabric->nodes(); rank++) ranks.push_back(std::make_unique<FsinNetwork>(rank, fabric));

  ping_pong(ranks, bytes);
  size_t unmatched = fabric->run();
  const uint64_t between = fabric->time();
  std::printf("ping-pong %llu ps\n", static_cast<unsigned long long>(between));

  const int count = fabric->nodes();
  std::vector<Ring> rings;
  for (auto& rank : ranks) rings.push_back({rank.get(), count, bytes / count, 0});
  for (auto& ring : rings) ring.network->sim_schedule({NS, 0}, [](void* ring) { static_cast<Ring*>(ring)->next(); }, &ring);
  unmatched += fabric->run();
  std::printf("all-reduce %llu ps\n", static_cast<unsigned long long>(fabric->time() - between));
  return unmatched == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
