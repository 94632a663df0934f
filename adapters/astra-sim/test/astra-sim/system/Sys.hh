#ifndef ASTRA_SIM_SYS_HH
#define ASTRA_SIM_SYS_HH

#include <string>
#include <vector>

#include "astra-sim/common/AstraNetworkAPI.hh"

namespace AstraSim {

class AstraRemoteMemoryAPI;

/// A rank of one all-reduce of 1 MiB in a ring.
class Workload {
 public:
  Workload(AstraNetworkAPI* network, int ranks) : network_(network), ranks_(ranks) {}
  void fire();

 private:
  AstraNetworkAPI* network_;
  int ranks_;
  int step_ = 0;
};

class Sys {
 public:
  Sys(int id, std::string workload_configuration, std::string comm_group_configuration,
      std::string system_configuration, AstraRemoteMemoryAPI* remote_mem, AstraNetworkAPI* comm_NI,
      std::vector<int> physical_dims, std::vector<int> queues_per_dim, double injection_scale, double comm_scale,
      bool rendezvous_enabled);

  int id;
  Workload* workload;
};

}  // namespace AstraSim

#endif
