"""A fit that can be watched while it runs, for the tests of what it serves."""

import http.client
import json
import os
import re
import socket
import subprocess

import pytest

from support import TIMEOUT

ROW = b"3,0,2\n1,4,0\n0,1,5\n2,2,1\n"


class Fit:
    """A fit that reads a pipe and serves."""

    def __init__(self, headwater, *arguments, serve="0"):
        self.headwater = headwater
        self.process = headwater.start(
            "fit", "-", "--components", 2, "--prior", "basis-selection", "--start-on", 200,
            "--out", "model.h5", "--serve", serve, *arguments, stdin=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.lines = []
        while True:  # a warning may come before it
            line = self.process.stderr.readline().decode()
            self.lines.append(line)
            found = re.search(r"watched at http://(\S+):(\d+)/", line)
            if found or line == "":
                break
        if found is None and "built without libmicrohttpd" in self.lines[0]:
            pytest.skip("built without a web server")
        assert found, self.lines
        self.port = int(found.group(2))

    def feed(self, rows):
        self.process.stdin.write(ROW * (rows // 4))
        self.process.stdin.flush()

    def get(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer, text.decode()

    def state(self):
        return json.loads(self.get("/state.json")[1])

    def events(self):
        """The states that come, one after the other."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT) as connection:
            connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with http.client.HTTPResponse(connection) as answer:
                answer.begin()
                assert answer.status == 200
                assert answer.getheader("Content-Type") == "text/event-stream"
                for line in answer:
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])

    def raw(self, request):
        """What comes back for these bytes, up to the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT) as connection:
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                answer = b""
                while part := connection.recv(65536):
                    answer += part
            except OSError:
                return None
        return answer

    def finish(self):
        self.process.stdin.close()
        errors = self.process.stderr.read().decode()
        assert self.process.wait(TIMEOUT) == 0, errors
        return errors

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(TIMEOUT)
        for pipe in (self.process.stdin, self.process.stderr):
            pipe.close()
