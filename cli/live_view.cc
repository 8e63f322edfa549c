#include "live_view.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "headwater/io/files/atomic_file.hpp"
#include "words.hpp"

using namespace headwater;

namespace {

constexpr std::chrono::milliseconds kInterval{250};
constexpr std::chrono::milliseconds kFarewell{1000};

}  // namespace

// Writes metrics at most once a second, by a thread of its own: a disk may be slow.
class MetricsFile {
 public:
  explicit MetricsFile(std::string name) : name_(std::move(name)), thread_([this] { run(); }) {}
  ~MetricsFile() {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
    if (!error_.empty()) say("{}\n", error_);
  }

  void publish(std::shared_ptr<const LiveSnapshot> snapshot) {
    {
      const std::lock_guard lock(mutex_);
      snapshot_ = std::move(snapshot);
    }
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!is_closing_ || snapshot_ != nullptr) {
      changed_.wait(lock, [&] { return is_closing_ || snapshot_ != nullptr; });
      if (snapshot_ == nullptr) continue;
      const auto snapshot = std::exchange(snapshot_, nullptr);
      lock.unlock();
      write(*snapshot);
      lock.lock();
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return is_closing_; });
    }
  }

  // A file that cannot be written costs the fit nothing; the last error is told at the end.
  void write(const LiveSnapshot& snapshot) {
    try {
      AtomicFile file(name_);
      file.write(prometheus_text(snapshot));
      file.commit();
      error_.clear();
    } catch (const std::exception& error) {
      error_ = error.what();
    }
  }

  std::string name_;
  std::string error_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const LiveSnapshot> snapshot_;
  bool is_closing_ = false;
  std::thread thread_;
};

LiveView::LiveView(const std::string& serve, const std::string& metrics,
                   const std::string& data_name, bool quiet) {
  if (serve.empty() && metrics.empty()) return;
  watch_.emplace(data_name == "-" ? "standard input" : data_name, kInterval);
  if (!metrics.empty()) metrics_ = std::make_unique<MetricsFile>(metrics);
  if (serve.empty()) return;
  server_ = start_live_server(ServeAddress::parse(serve));
  const ServeAddress address = server_->address();
  if (!address.is_loopback()) {
    say("warning: --serve {} shows the fit to everybody who can reach this machine; there is no "
        "password\n",
        serve);
  }
  if (!quiet) say("the fit can be watched at {}\n", address.url());
}

LiveView::~LiveView() = default;

void LiveView::watch(const Session& session, Index channels,
                     const std::vector<std::string>& names) {
  if (!is_on()) return;
  session_ = &session;
  watch_->set_channels(channels, names);
  publish(false);
}

void LiveView::publish(bool is_finished) {
  const std::shared_ptr<const LiveSnapshot> snapshot = watch_->snapshot(*session_, is_finished);
  if (server_) server_->publish(snapshot);
  if (metrics_) metrics_->publish(snapshot);
}

void LiveView::add_row() {
  if (is_on()) watch_->add_row();
}

void LiveView::add_bad_row() {
  if (is_on()) watch_->add_bad_row();
}

void LiveView::set_checkpoint(std::int64_t count, std::int64_t rows) {
  if (is_on()) watch_->set_checkpoint(count, rows);
}

void LiveView::add(const StepReport& report, const DataStream& data) {
  if (!is_on()) return;
  watch_->add(report, session_->config().engine.num_particles,
              [&](const Observation& y) { return data.time_text(y); });
  if (watch_->is_due_in_passing()) publish(false);
}

void LiveView::idle() {
  if (is_on() && session_ != nullptr && watch_->is_due()) publish(false);
}

void LiveView::finish() {
  if (!is_on()) return;
  publish(true);
  if (server_) server_->drain(kFarewell);
}
