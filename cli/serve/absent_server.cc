// In place of microhttpd_server.cc where libmicrohttpd is missing.
#include "headwater/error.hpp"
#include "serve/server.hpp"

std::unique_ptr<LiveServer> start_live_server(const ServeAddress&) {
  throw headwater::UsageError(
      "--serve: this headwater was built without libmicrohttpd; install libmicrohttpd-dev and "
      "build "
      "it again");
}
