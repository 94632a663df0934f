#include "astra-sim/system/Sys.hh"

#include <fstream>
#include <stdexcept>

namespace AstraSim {

void Workload::fire() {
  if (step_ == 2 * (ranks_ - 1)) return network_->sim_notify_finished();
  const uint64_t bytes = (1 << 20) / ranks_;
  const int rank = network_->sim_comm_get_rank();
  sim_request request{static_cast<uint32_t>(rank), 0, 0, UINT8, bytes, 0, 0};
  network_->sim_recv(
      nullptr, bytes, UINT8, (rank + ranks_ - 1) % ranks_, step_, &request,
      [](void* workload) { static_cast<Workload*>(workload)->fire(); }, this);
  network_->sim_send(
      nullptr, bytes, UINT8, (rank + 1) % ranks_, step_, &request, [](void*) {}, nullptr);
  step_++;
}

Sys::Sys(int id, std::string workload_configuration, std::string, std::string system_configuration,
         AstraRemoteMemoryAPI*, AstraNetworkAPI* comm_NI, std::vector<int> physical_dims, std::vector<int>, double, double,
         bool)
    : id(id), workload(new Workload(comm_NI, physical_dims.at(0))) {
  for (const auto& file : {workload_configuration, system_configuration}) {
    if (!std::ifstream(file)) throw std::runtime_error("cannot read " + file);
  }
}

}  // namespace AstraSim
