/* Every node of a torus sends to the node across; prints when the last message arrives. */
#include <fsin.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *call)
{
    fprintf(stderr, "%s: %s\n", call, fsin_error());
    exit(1);
}

int main(void)
{
    uint64_t network = fsin_open("topology = \"torus:8x8\"\nbandwidth = \"10Gb/s\"\n");
    if (network == 0)
        fail("fsin_open");

    uint32_t nodes = fsin_nodes(network);
    for (uint32_t node = 0; node < nodes; node++)
        if (fsin_send(network, node, (node + 36) % nodes, 4096, 0, node) != 0)
            fail("fsin_send");

    fsin_event event;
    unsigned arrived = 0;
    int happened;
    while ((happened = fsin_advance(network, FSIN_FOREVER)) == 1)
        while (fsin_poll(network, &event) == 1)
            arrived += event.kind == FSIN_DELIVERED;
    if (happened < 0)
        fail("fsin_advance");

    printf("%u messages in %" PRIu64 " ps\n", arrived, fsin_time(network));
    fsin_close(network);
    return 0;
}
