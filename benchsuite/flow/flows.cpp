// Runs flows that begin together over a platform of SimGrid, and prints when each of them has arrived.
// Usage: flows PLATFORM.xml FLOWS.csv TIMES, with lines SOURCE,DESTINATION,BYTES,0 after a head; hosts are n-0, n-1, ... in the
// platform. TIMES gets a line for each flow, in seconds. Written with the documentation of S4U alone.
#include <cstdio>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

struct Flow {
  unsigned from, to;
  unsigned long bytes;
};

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  std::vector<Flow> flows;
  char head[80];
  FILE* file = std::fopen(argv[2], "r");
  if (file == nullptr || std::fgets(head, sizeof head, file) == nullptr)
    return 1;
  for (Flow flow; std::fscanf(file, "%u,%u,%lu,0\n", &flow.from, &flow.to, &flow.bytes) == 3;)
    flows.push_back(flow);
  std::fclose(file);
  const auto host = [&engine](unsigned number) { return engine.host_by_name("n-" + std::to_string(number)); };
  std::vector<sg4::CommPtr> comms;
  sg4::Actor::create("sender", host(0), [&] {
    for (const Flow& flow : flows)
      comms.push_back(sg4::Comm::sendto_async(host(flow.from), host(flow.to), flow.bytes));
    sg4::Comm::wait_all(comms);
  });
  engine.run();
  FILE* times = std::fopen(argv[3], "w");
  for (const auto& comm : comms)
    std::fprintf(times, "%.15g\n", comm->get_finish_time());
  std::fclose(times);
  return 0;
}
