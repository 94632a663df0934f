#ifndef ASTRA_SIM_COMMON_HH
#define ASTRA_SIM_COMMON_HH

#include <cstdint>

namespace AstraSim {

enum time_type_e { SE = 0, MS, US, NS, FS };

struct timespec_t {
  time_type_e time_res;
  long double time_val;
};

enum req_type_e { UINT8 = 0, BFLOAT16, FP32 };

struct sim_request {
  uint32_t srcRank;
  uint32_t dstRank;
  uint32_t tag;
  req_type_e reqType;
  uint64_t reqCount;
  uint32_t vnet;
  uint32_t layerNum;
};

}  // namespace AstraSim

#endif
