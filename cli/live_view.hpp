#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data_stream.hpp"
#include "headwater/report/live_state.hpp"
#include "headwater/session.hpp"
#include "serve/server.hpp"

class MetricsFile;

// --serve and --metrics: those who look on while a fit runs.
class LiveView {
 public:
  // serve, metrics: as they were given; empty: not asked for. Says where the page is, unless quiet.
  LiveView(const std::string& serve, const std::string& metrics, const std::string& data_name,
           bool quiet);
  ~LiveView();

  bool is_on() const { return watch_.has_value(); }
  // The fit that is shown, and what its channels are called.
  void watch(const headwater::Session& session, headwater::Index channels,
             const std::vector<std::string>& names);

  void add_row();
  void add_bad_row();
  void add(const headwater::StepReport& report, const DataStream& data);
  void set_checkpoint(std::int64_t count, std::int64_t rows);
  // While there is nothing to read, or a start is searched for.
  void idle();
  // After the last observation.
  void finish();

 private:
  void publish(bool is_finished);

  std::optional<headwater::LiveWatch> watch_;
  std::unique_ptr<LiveServer> server_;
  std::unique_ptr<MetricsFile> metrics_;
  const headwater::Session* session_ = nullptr;
};
