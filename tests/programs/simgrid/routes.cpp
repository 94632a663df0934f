// Prints, for every two hosts of a platform, what SimGrid's route between them is: the number of links, the sum of their
// latencies in seconds, and the least of their bandwidths in bytes a second.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <simgrid/s4u.hpp>

int main(int argc, char** argv)
{
  simgrid::s4u::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  engine.seal_platform();
  for (auto* from : engine.get_all_hosts())
    for (auto* to : engine.get_all_hosts()) {
      if (from == to)
        continue;
      std::vector<simgrid::s4u::Link*> links;
      double latency = 0, least = 1e300;
      from->route_to(to, links, &latency);
      for (auto* link : links)
        least = std::min(least, link->get_bandwidth());
      std::printf("%s %s %zu %.15g %.15g\n", from->get_cname(), to->get_cname(), links.size(), latency, least);
    }
}
