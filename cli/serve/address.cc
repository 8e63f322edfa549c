#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "headwater/error.hpp"
#include "serve/server.hpp"

using namespace headwater;

namespace {

bool is_ip(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes = {};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

bool is_any(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

// The name of "example.org:8080" or "[::1]:8080".
std::string without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? "" : std::string(host.substr(1, end - 1));
  }
  return std::string(host.substr(0, host.find(':')));
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string name_of_this_machine() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 ? lower(name.data()) : "";
}

}  // namespace

ServeAddress ServeAddress::parse(const std::string& text) {
  const auto refuse = [&]() -> UsageError {
    return UsageError(fmt::format(
        "--serve {}: expected PORT or ADDRESS:PORT, such as 8080 or 0.0.0.0:8080", text));
  };
  ServeAddress address;
  const std::size_t colon = text.rfind(':');
  std::string port = text;
  if (colon != std::string::npos) {
    address.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
      address.host = address.host.substr(1, address.host.size() - 2);
    } else if (address.host.find(':') != std::string::npos) {
      throw refuse();
    }
    if (address.host == "localhost") address.host = "127.0.0.1";
    if (!is_ip(address.host)) throw refuse();
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty()) throw refuse();
  return address;
}

bool ServeAddress::is_loopback() const { return host.starts_with("127.") || host == "::1"; }

std::string ServeAddress::url() const {
  const std::string shown = is_any(host) ? "127.0.0.1" : host;
  return fmt::format(
      fmt::runtime(shown.find(':') == std::string::npos ? "http://{}:{}/" : "http://[{}]:{}/"),
      shown, port);
}

bool is_meant_for(const ServeAddress& address, const char* host, const char* origin) {
  if (host == nullptr) return false;
  const std::string name = lower(without_port(host));
  const bool is_known = name == "localhost" || name == "127.0.0.1" || name == "::1" ||
                        name == address.host ||
                        // A number is no name that a stranger could have pointed here.
                        (is_any(address.host) && (is_ip(name) || name == name_of_this_machine()));
  if (!is_known) return false;
  if (origin == nullptr) return true;
  const std::string_view from(origin);
  const std::size_t start = from.find("://");
  return start != std::string_view::npos &&
         lower(std::string(from.substr(start + 3))) == lower(host);
}
