// Prints, for every two hosts of a platform, what SimGrid's route between them is: the number of links, the sum of their
// latencies in seconds, and the least of their bandwidths in bytes a second. Given the names of two hosts as well, it sends
// a million bytes between them, and prints the time in seconds when they have arrived.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

int main(int argc, char** argv)
{
  simgrid::s4u::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  if (argc > 3) {
    auto* mailbox = simgrid::s4u::Mailbox::by_name("mailbox");
    simgrid::s4u::Actor::create("sender", engine.host_by_name(argv[2]), [mailbox] {
      static int payload = 0;
      mailbox->put(&payload, 1000000);
    });
    simgrid::s4u::Actor::create("receiver", engine.host_by_name(argv[3]), [mailbox] { mailbox->get<int>(); });
    engine.run();
    std::printf("%.15g\n", engine.get_clock());
    return 0;
  }
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
