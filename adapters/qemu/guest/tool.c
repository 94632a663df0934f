/* What the machines of `fsin machines` need beside busybox, under three names:
 *   mark LABEL           tells the simulated network this moment (a frame that the plugin of QEMU takes)
 *   rxd                  runs commands that other machines send to port 514, one process each
 *   rx [-n] HOST WORDS   runs a command on another machine: input and output are its own; -n does not wait for its end
 * There is no login: the network has no other machines. Like rsh, rx does not hand back the exit status. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_packet.h>

#define PORT 514

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int mark(const char *label) {
    unsigned char frame[60] = {0};
    size_t length = strlen(label);
    if (length > 40) length = 40;
    int s = socket(AF_PACKET, SOCK_RAW, 0);
    if (s < 0) fail("mark: socket");
    struct ifreq request = {0};
    strcpy(request.ifr_name, "eth0");
    if (ioctl(s, SIOCGIFHWADDR, &request) < 0) fail("mark: eth0");
    memcpy(frame, request.ifr_hwaddr.sa_data, 6);
    memcpy(frame + 6, request.ifr_hwaddr.sa_data, 6);
    frame[12] = 0x88;
    frame[13] = 0xb5;
    memcpy(frame + 14, "fsin", 4);
    frame[18] = (unsigned char)length;
    memcpy(frame + 19, label, length);
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("eth0"), .sll_halen = 6};
    memcpy(to.sll_addr, frame, 6);
    if (sendto(s, frame, sizeof frame, 0, (struct sockaddr *)&to, sizeof to) < 0) fail("mark: send");
    return 0;
}

static void put(int to, const char *bytes, ssize_t length) {
    while (length > 0) {
        ssize_t done = write(to, bytes, (size_t)length);
        if (done <= 0) exit(1);
        bytes += done;
        length -= done;
    }
}

/* A line from a socket. */
static int line(int from, char *text, size_t room) {
    size_t length = 0;
    while (length + 1 < room && read(from, text + length, 1) == 1) {
        if (text[length] == '\n') {
            text[length] = 0;
            return 0;
        }
        length++;
    }
    return -1;
}

static int rxd(void) {
    int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(s, (struct sockaddr *)&at, sizeof at) < 0 || listen(s, 128) < 0) fail("rxd");
    if (daemon(0, 1) < 0) fail("rxd");
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int connection = accept(s, 0, 0);
        if (connection < 0 || fork() != 0) {
            if (connection >= 0) close(connection);
            continue;
        }
        static char text[1 << 16];
        close(s);
        signal(SIGCHLD, SIG_DFL);
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (line(connection, text, sizeof text) < 0) exit(1);
        dup2(connection, 0);
        dup2(connection, 1);
        dup2(connection, 2);
        close(connection);
        setsid();
        execl("/bin/sh", "sh", "-c", text, (char *)0);
        exit(127);
    }
}

/* The address of a machine: that of its name in /etc/hosts, or the dotted one. */
static struct in_addr address(const char *host) {
    struct in_addr found;
    char number[64], name[64];
    if (inet_aton(host, &found)) return found;
    FILE *hosts = fopen("/etc/hosts", "r");
    while (hosts && fscanf(hosts, "%63s %63s", number, name) == 2)
        if (!strcmp(name, host) && inet_aton(number, &found)) return found;
    fprintf(stderr, "rx: there is no machine %s\n", host);
    exit(1);
}

static int rx(int argc, char **argv) {
    int wait = 1, first = 1, one = 1;
    if (argc > 1 && !strcmp(argv[1], "-n")) {
        wait = 0;
        first = 2;
    }
    if (argc < first + 2) {
        fprintf(stderr, "usage: rx [-n] HOST COMMAND...\n");
        return 2;
    }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = address(argv[first])};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (struct sockaddr *)&at, sizeof at) < 0) fail("rx");
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    static char buffer[1 << 16];
    size_t length = 0;
    for (int word = first + 1; word < argc; word++)
        length += (size_t)snprintf(buffer + length, sizeof buffer - length, "%s%s", word > first + 1 ? " " : "", argv[word]);
    buffer[length] = '\n';
    put(s, buffer, (ssize_t)length + 1);
    if (!wait) return 0;
    struct pollfd both[2] = {{.fd = s, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    for (;;) {
        if (poll(both, 2, -1) < 0) fail("rx: poll");
        if (both[0].revents) {
            ssize_t got = read(s, buffer, sizeof buffer);
            if (got <= 0) return 0;
            put(1, buffer, got);
        }
        if (both[1].revents) {
            ssize_t got = read(0, buffer, sizeof buffer);
            if (got > 0) {
                put(s, buffer, got);
            } else {
                shutdown(s, SHUT_WR);
                both[1].fd = -1;
            }
        }
    }
}

int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    if (!strcmp(name, "mark") && argc == 2) return mark(argv[1]);
    if (!strcmp(name, "rxd")) return rxd();
    if (!strcmp(name, "rx")) return rx(argc, argv);
    fprintf(stderr, "usage: mark LABEL | rxd | rx [-n] HOST COMMAND...\n");
    return 2;
}
