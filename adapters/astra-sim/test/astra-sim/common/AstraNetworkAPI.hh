#ifndef ASTRA_SIM_NETWORK_API_HH
#define ASTRA_SIM_NETWORK_API_HH

#include "astra-sim/common/Common.hh"

namespace AstraSim {

class AstraNetworkAPI {
 public:
  enum class BackendType { NotSpecified = 0, Garnet, NS3, Analytical };

  AstraNetworkAPI(int rank) : rank(rank) {}
  virtual ~AstraNetworkAPI() = default;

  virtual int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, sim_request* request,
                       void (*msg_handler)(void* fun_arg), void* fun_arg) = 0;
  virtual int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, sim_request* request,
                       void (*msg_handler)(void* fun_arg), void* fun_arg) = 0;
  virtual void sim_schedule(timespec_t delta, void (*fun_ptr)(void* fun_arg), void* fun_arg) = 0;
  virtual BackendType get_backend_type() { return BackendType::NotSpecified; }
  virtual int sim_comm_get_rank() { return rank; }
  virtual int sim_comm_set_rank(int new_rank) { return rank = new_rank; }
  virtual timespec_t sim_get_time() = 0;
  virtual double get_BW_at_dimension(int) { return -1; }
  virtual void sim_notify_finished() {}

 protected:
  int rank;
};

}  // namespace AstraSim

#endif
