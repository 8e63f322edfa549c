#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "headwater/report/live_state.hpp"

// Where --serve listens: [ADDRESS:]PORT.
struct ServeAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free

  // "8080", "0.0.0.0:8080", "[::1]:8080". Throws UsageError.
  static ServeAddress parse(const std::string& text);
  bool is_loopback() const;
  std::string url() const;
};

// A web server for a fit that runs: the live page, its state, server-sent events, metrics. It has a
// thread of its own. publish() hands over a pointer and returns; nothing that a viewer does, or
// does not do, makes the fit wait.
class LiveServer {
 public:
  virtual ~LiveServer() = default;
  virtual void publish(std::shared_ptr<const headwater::LiveSnapshot> snapshot) = 0;
  virtual ServeAddress address() const = 0;
  // Waits until the viewers have the last snapshot, or for so long.
  virtual void drain(std::chrono::milliseconds most) = 0;
};

// Throws InputError if nobody can listen there, and UsageError if the program was built without a
// web server.
std::unique_ptr<LiveServer> start_live_server(const ServeAddress& address);

// Whether the names in the headers of a request are those of this server: otherwise a page from
// elsewhere has led the browser here (DNS rebinding), or sends a request of its own. host, origin:
// null if the request has no such header.
bool is_meant_for(const ServeAddress& address, const char* host, const char* origin);
