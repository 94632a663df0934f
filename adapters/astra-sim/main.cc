// ASTRA-sim over a network simulated by fsin: the program of this back end.
//
//     AstraSim_fsin --workload-configuration=PREFIX --system-configuration=FILE --network-configuration=FILE
//                   [--comm-group-configuration=FILE] [--queues-per-dim=N] [--injection-scale=X] [--comm-scale=X]
//                   [--rendezvous-protocol]
//
// The flags are those of ASTRA-sim's own back ends. The network configuration is an experiment file of fsin; rank i is node i
// of its network, and the ranks have one dimension. There is no remote memory.
#include <astra-sim/system/Sys.hh>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "FsinNetwork.hh"

using namespace AstraSim;

namespace {

/// The flags and their values.
using Flags = std::map<std::string, std::string>;

Flags parsed(int argc, char** argv) {
  Flags flags{{"workload-configuration", ""},           {"system-configuration", ""}, {"network-configuration", ""},
              {"comm-group-configuration", "empty"},    {"queues-per-dim", "1"},      {"injection-scale", "1"},
              {"comm-scale", "1"},                      {"rendezvous-protocol", "false"}};
  for (int at = 1; at < argc; at++) {
    const std::string word = argv[at];
    const size_t equals = word.find('=');
    const std::string name = word.rfind("--", 0) == 0 ? word.substr(2, equals - 2) : "";
    if (flags.count(name) == 0) throw std::invalid_argument("unknown argument " + word);
    if (equals != std::string::npos) {
      flags[name] = word.substr(equals + 1);
    } else if (name == "rendezvous-protocol") {
      flags[name] = "true";
    } else if (at + 1 < argc) {
      flags[name] = argv[++at];
    } else {
      throw std::invalid_argument(word + " needs a value");
    }
  }
  for (const auto& [name, value] : flags) {
    if (value.empty()) throw std::invalid_argument("--" + name + " is missing");
  }
  return flags;
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int run(const Flags& flags) {
  auto fabric = std::make_shared<FsinFabric>(content(flags.at("network-configuration")));
  const int ranks = fabric->nodes();
  std::vector<std::unique_ptr<FsinNetwork>> networks;
  // A system deletes itself when its workload is finished.
  std::vector<Sys*> systems;
  for (int rank = 0; rank < ranks; rank++) {
    networks.push_back(std::make_unique<FsinNetwork>(rank, fabric));
    systems.push_back(new Sys(rank, flags.at("workload-configuration"), flags.at("comm-group-configuration"),
                              flags.at("system-configuration"), nullptr, networks.back().get(), {ranks},
                              {std::stoi(flags.at("queues-per-dim"))}, std::stod(flags.at("injection-scale")),
                              std::stod(flags.at("comm-scale")), flags.at("rendezvous-protocol") == "true"));
  }
  for (Sys* system : systems) system->workload->fire();
  const size_t unmatched = fabric->run();
  std::printf("finished at %llu ps\n", static_cast<unsigned long long>(fabric->time()));
  if (unmatched == 0) return 0;
  std::fprintf(stderr, "error: %zu receives have no message\n", unmatched);
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(parsed(argc, argv));
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
