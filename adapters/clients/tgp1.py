"""A guest of `fsin serve` in one file, without dependencies: TGP/1, as specified in docs/protocol.md.

    guest = Guest("127.0.0.1:7100", node=0, name="ping")
    guest.send(1, 64, b"hello")
    message = guest.receive()
    print(message.size, "bytes from node", message.source, "at", guest.now, "ps")
    guest.finish()

Times are picoseconds of virtual time. A causal guest's clock advances with its actions, a stepped guest's by itself, step
by step. The token of a run, if it has one, comes from a file or the environment, never from the command line.
"""

import collections
import hmac
import os
import socket
import struct

FOREVER = 2**64 - 1
HEADER = struct.Struct("<IBBHQQ")
HELLO, WELCOME, CHALLENGE, INJECT, DELIVER, DONE, TIMESTAMP, GO_AHEAD, MARK, BYE, ERROR = 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12

Message = collections.namedtuple("Message", "time source number cookie sent late size payload")
Sent = collections.namedtuple("Sent", "time cookie")


class Refused(Exception):
    """The endpoint ended the connection, with a reason."""


class Guest:
    """A guest at one node; every call blocks until it is done."""

    def __init__(self, address, node, name="python", stepped=False, step=0, token=None):
        if address.startswith("unix:"):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(address[5:])
        else:
            host, port = address.rsplit(":", 1)
            self._socket = socket.create_connection((host.strip("[]"), int(port)))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")
        self._out = bytearray()
        self._numbers = [0, 0]  # Frames sent, frames received.
        self._counts = [0, 0]  # Messages injected, notices received.
        self._events = collections.deque()
        self._until = None
        self._stepped = stepped
        self.now = 0
        hello = b"TGP1" + struct.pack("<HHQBBIQQI", 1, 0, 0, 0 if stepped else 1, 0, 0, step, 0, 1 << 20) + bytes(32)
        self._put(HELLO, hello + _text(name) + struct.pack("<HI", 1, node))
        self._flush()
        kind, _, payload = self._next()
        if kind == CHALLENGE:
            if token is None:
                raise Refused("the endpoint wants a token")
            token, nonces = token.strip(), payload + os.urandom(32)
            self._put(CHALLENGE, nonces[32:])
            self._put(CHALLENGE, hmac.digest(token, b"TGP/1 guest" + nonces, "sha256"), flags=2)
            self._flush()
            kind, _, payload = self._next()
            if kind != CHALLENGE or not hmac.compare_digest(payload, hmac.digest(token, b"TGP/1 endpoint" + nonces, "sha256")):
                raise Refused("the endpoint does not prove that it knows the token")
            kind, _, payload = self._next()
        elif token is not None:
            raise Refused("the endpoint does not prove that it knows the token")
        if kind != WELCOME:
            raise Refused("frame type %d instead of Welcome" % kind)
        fields = struct.unpack("<HBQQIQQQQIIIQI", payload)
        self.nodes, self.step, self.horizon = fields[4], fields[5], fields[6]
        self.pace = fields[13] / 1000  # Wall-clock time over virtual time in real-time mode, else 0.

    def send(self, destination, size, payload=b"", cookie=0, notify=False):
        """Sends `size` bytes to a node, carrying `payload`; with `notify` a Sent follows when it has left."""
        self._begin()
        self._counts[0] += 1
        self._put(INJECT, struct.pack("<IBQQ", destination, notify, size, cookie) + payload)

    def advance(self, span):
        """Lets time pass."""
        self._begin()
        target = self.now + span
        while self._until != FOREVER and self._until <= target:
            self.now = max(self.now, self._until)
            self._end_turn(self.now)
        self.now = max(self.now, target)

    def event(self):
        """The next Message or Sent; waits for it."""
        self._begin()
        while True:
            if self._events and (self._until == FOREVER or self._events[0].time < self._until):
                event = self._events.popleft()
                self.now = max(self.now, event.time)
                return event
            if self._stepped and self._until != FOREVER:  # An endless grant is a warm-up, which ends here.
                self.now = max(self.now, self._until)
            self._end_turn(self.now if self._stepped else FOREVER)

    def receive(self):
        """The next Message; waits for it, and skips other events."""
        while True:
            event = self.event()
            if isinstance(event, Message):
                return event

    def mark(self, label):
        """Labels this moment in the results."""
        self._begin()
        self._put(MARK, _text(label))
        if self._stepped and self._until == FOREVER:
            self._end_turn(self.now)

    def finish(self, reason="done"):
        """Says goodbye."""
        self._begin()
        self._put(BYE, struct.pack("<QQ", *self._counts) + _text(reason))
        self._flush()
        self._next()
        self._stream.close()
        self._socket.close()

    def _begin(self):
        if self._until is None:
            self._take_turn()

    def _end_turn(self, promise):
        self._put(TIMESTAMP, struct.pack("<QQ", promise, self._counts[0]))
        self._flush()
        self._take_turn()

    def _take_turn(self):
        while True:
            kind, time, payload = self._next()
            if kind == DELIVER:
                self._counts[1] += 1
                self._events.append(Message(time, *struct.unpack_from("<IQQQQQ", payload), payload[44:]))
            elif kind == DONE:
                self._counts[1] += 1
                self._events.append(Sent(time, *struct.unpack("<Q", payload)))
            elif kind == GO_AHEAD:
                self._until = struct.unpack("<QQ", payload)[0]
                return
            else:
                raise Refused("frame type %d out of turn" % kind)

    def _put(self, kind, payload, flags=0):
        self._out += HEADER.pack(len(payload), kind, flags, 0, self.now, self._numbers[0]) + payload
        self._numbers[0] += 1

    def _flush(self):
        try:
            self._socket.sendall(self._out)
        except ConnectionError:
            while True:  # Why may have been said before the connection was closed.
                self._next()
        self._out.clear()

    def _next(self):
        length, kind, _, _, time, number = HEADER.unpack(self._read(HEADER.size))
        if number != self._numbers[1] or length > 1 << 20:
            raise Refused("the endpoint does not speak TGP/1")
        self._numbers[1] += 1
        payload = self._read(length)
        if kind == ERROR:
            raise Refused(payload[4:].decode("utf-8", "replace"))
        return kind, time, payload

    def _read(self, length):
        try:
            data = self._stream.read(length)
        except ConnectionError as error:
            raise Refused("the connection has failed: %s" % error) from error
        if len(data) != length:
            raise Refused("the endpoint has closed the connection")
        return data


def _text(text):
    data = text.encode()[:256]
    return struct.pack("<H", len(data)) + data
