#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "headwater/error.hpp"
#include "headwater/report/page.hpp"
#include "serve/server.hpp"

using namespace headwater;

namespace {

using Text = std::shared_ptr<const std::string>;

constexpr unsigned kConnections = 64;  // at a time
constexpr int kMostViewers = 32;       // of them, so that others can still ask for metrics
constexpr unsigned kIdleSeconds = 20;
// A viewer that does not read delays the end by no more than this.
constexpr std::chrono::milliseconds kGoodbye{500};
constexpr std::size_t kRequestBytes = 16 * 1024;
constexpr std::size_t kBlock = 32 * 1024;

struct Answer {
  unsigned status = MHD_HTTP_OK;
  const char* type = "text/plain; charset=utf-8";
  std::string body;
};

// What browsers are told not to do. The page's own policy is in the page.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Cache-Control", "no-store"},      {"Content-Security-Policy", "frame-ancestors 'none'"},
    {"X-Frame-Options", "DENY"},        {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"}, {"Cross-Origin-Resource-Policy", "same-origin"},
};

void add_headers(MHD_Response* response, const char* type) {
  MHD_add_response_header(response, "Content-Type", type);
  for (const auto& [name, value] : kHeaders) MHD_add_response_header(response, name, value);
}

class MicrohttpdServer final : public LiveServer {
 public:
  explicit MicrohttpdServer(const ServeAddress& address);
  ~MicrohttpdServer() override;

  void publish(std::shared_ptr<const LiveSnapshot> snapshot) override;
  ServeAddress address() const override { return address_; }
  void drain(std::chrono::milliseconds most) override;

 private:
  // A reader of /events.
  struct Viewer {
    MicrohttpdServer& server;
    MHD_Connection* connection;
    Text event;
    std::size_t sent = 0;      // bytes of the event
    std::uint64_t number = 0;  // of the event
    bool is_waiting = false;
  };

  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url,
                               const char* method, const char* version, const char* upload,
                               size_t* upload_size, void** state);
  static ssize_t on_event_wanted(void* viewer, std::uint64_t position, char* space, size_t size);
  static void on_viewer_gone(void* viewer);

  MHD_Result reply(MHD_Connection* connection, const Answer& answer) const;
  MHD_Result reply_events(MHD_Connection* connection);
  Answer answer_to(std::string_view url);
  std::shared_ptr<const LiveSnapshot> latest();
  Text event_text();  // of the latest snapshot; the lock is held
  void wake_viewers();

  ServeAddress address_;
  MHD_Daemon* daemon_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const LiveSnapshot> snapshot_ = std::make_shared<LiveSnapshot>();
  std::uint64_t number_ = 0;  // of the snapshot
  Text event_;
  std::uint64_t event_number_ = 0;
  bool is_closing_ = false;
  std::vector<Viewer*> viewers_;
};

MicrohttpdServer::MicrohttpdServer(const ServeAddress& address) : address_(address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(address.port);
  inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
  // By poll(): with epoll, a connection that its peer has half closed is seen only when it times
  // out.
  const unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                         (is_v6 ? static_cast<unsigned>(MHD_USE_IPv6) : 0U);
  errno = 0;
  daemon_ = MHD_start_daemon(
      flags, address.port, nullptr, nullptr, &MicrohttpdServer::on_request, this,
      MHD_OPTION_SOCK_ADDR,
      is_v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4),
      MHD_OPTION_CONNECTION_LIMIT, kConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kRequestBytes, MHD_OPTION_END);
  if (daemon_ == nullptr) {
    throw InputError(fmt::format("--serve {}:{}: cannot listen there: {}", address.host,
                                 address.port, std::strerror(errno != 0 ? errno : EADDRINUSE)));
  }
  if (const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT)) {
    address_.port = info->port;
  }
}

MicrohttpdServer::~MicrohttpdServer() {
  {
    // Viewers get the end of their stream. To stop at once would cut them off in the middle, which
    // browsers report as an error.
    std::unique_lock lock(mutex_);
    is_closing_ = true;
    wake_viewers();
    changed_.wait_for(lock, kGoodbye, [&] { return viewers_.empty(); });
  }
  MHD_stop_daemon(daemon_);
}

// The lock is held.
void MicrohttpdServer::wake_viewers() {
  for (Viewer* viewer : viewers_) {
    if (!viewer->is_waiting) continue;
    viewer->is_waiting = false;
    MHD_resume_connection(viewer->connection);
  }
}

void MicrohttpdServer::publish(std::shared_ptr<const LiveSnapshot> snapshot) {
  const std::lock_guard lock(mutex_);
  snapshot_ = std::move(snapshot);
  ++number_;
  wake_viewers();
}

void MicrohttpdServer::drain(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [&] {
    return std::ranges::all_of(viewers_, [&](const Viewer* viewer) {
      return viewer->number == number_ && viewer->sent == viewer->event->size();
    });
  });
}

std::shared_ptr<const LiveSnapshot> MicrohttpdServer::latest() {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

// Written once for all viewers.
Text MicrohttpdServer::event_text() {
  if (event_number_ != number_) {
    event_ = std::make_shared<const std::string>(
        fmt::format("retry: 2000\nid: {}\ndata: {}\n\n", number_, live_state_json(*snapshot_)));
    event_number_ = number_;
  }
  return event_;
}

// A viewer that has read its event gets the newest one; those in between it has missed. One that
// has the newest waits. One that does not read is never asked here: only its socket's buffer is
// full.
ssize_t MicrohttpdServer::on_event_wanted(void* given, std::uint64_t, char* space, size_t size) {
  Viewer& viewer = *static_cast<Viewer*>(given);
  MicrohttpdServer& server = viewer.server;
  const std::lock_guard lock(server.mutex_);
  if (viewer.sent == viewer.event->size()) {
    if (viewer.number == server.number_) {
      server.changed_.notify_all();
      if (server.is_closing_) return MHD_CONTENT_READER_END_OF_STREAM;
      viewer.is_waiting = true;
      MHD_suspend_connection(viewer.connection);
      return 0;
    }
    viewer.event = server.event_text();
    viewer.number = server.number_;
    viewer.sent = 0;
  }
  const std::size_t part = std::min(size, viewer.event->size() - viewer.sent);
  std::memcpy(space, viewer.event->data() + viewer.sent, part);
  viewer.sent += part;
  return static_cast<ssize_t>(part);
}

void MicrohttpdServer::on_viewer_gone(void* given) {
  const std::unique_ptr<Viewer> viewer(static_cast<Viewer*>(given));
  const std::lock_guard lock(viewer->server.mutex_);
  std::erase(viewer->server.viewers_, viewer.get());
  viewer->server.changed_.notify_all();
}

MHD_Result MicrohttpdServer::reply(MHD_Connection* connection, const Answer& answer) const {
  MHD_Response* response = MHD_create_response_from_buffer(
      answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  add_headers(response, answer.type);
  if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(response, "Allow", "GET");
  }
  const MHD_Result result = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return result;
}

MHD_Result MicrohttpdServer::reply_events(MHD_Connection* connection) {
  auto viewer =
      std::make_unique<Viewer>(Viewer{*this, connection, std::make_shared<const std::string>()});
  {
    const std::lock_guard lock(mutex_);
    if (static_cast<int>(viewers_.size()) >= kMostViewers) {
      viewer.reset();
    } else {
      viewers_.push_back(viewer.get());
    }
  }
  if (!viewer) return reply(connection, {.status = 503, .body = "too many viewers\n"});
  MHD_Response* response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, kBlock, &on_event_wanted, viewer.release(), &on_viewer_gone);
  if (response == nullptr) return MHD_NO;
  add_headers(response, "text/event-stream");
  const MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return result;
}

Answer MicrohttpdServer::answer_to(std::string_view url) {
  const std::shared_ptr<const LiveSnapshot> snapshot = latest();
  if (url == "/healthz") return {.body = "ok\n"};
  if (url == "/state.json") {
    return {.type = "application/json", .body = live_state_json(*snapshot) + "\n"};
  }
  if (url == "/metrics") {
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = prometheus_text(*snapshot)};
  }
  if (url == "/") {
    if (!has_pages()) {
      return {.status = 501,
              .body = "this headwater was built without npm, and so without pages\n"};
    }
    return {.type = "text/html; charset=utf-8",
            .body = report_page(snapshot->data + " · headwater", live_state_json(*snapshot))};
  }
  return {.status = MHD_HTTP_NOT_FOUND, .body = "not found\n"};
}

MHD_Result MicrohttpdServer::on_request(void* self, MHD_Connection* connection, const char* url,
                                        const char* method, const char*, const char*,
                                        size_t* upload_size, void** state) {
  auto& server = *static_cast<MicrohttpdServer*>(self);
  if (std::string_view(method) != "GET") {
    return server.reply(connection, {.status = MHD_HTTP_METHOD_NOT_ALLOWED, .body = "GET only\n"});
  }
  static const char kSeen = 0;
  if (*state == nullptr) {  // the first call; a body, if there is one, comes with further calls
    *state = const_cast<char*>(&kSeen);
    const char* host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char* origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    if (!is_meant_for(server.address_, host, origin)) {
      return server.reply(connection,
                          {.status = MHD_HTTP_FORBIDDEN, .body = "this name is not served here\n"});
    }
    return MHD_YES;
  }
  if (*upload_size != 0) return MHD_NO;  // a GET has no body
  if (std::string_view(url) == "/events") return server.reply_events(connection);
  return server.reply(connection, server.answer_to(url));
}

}  // namespace

std::unique_ptr<LiveServer> start_live_server(const ServeAddress& address) {
  return std::make_unique<MicrohttpdServer>(address);
}
