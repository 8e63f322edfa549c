#include "run_headwater.hpp"
#include "words.hpp"

namespace {

void add_all(CLI::App& app, Run& run) {
  add_simulate(app, run);
  add_fit(app, run);
  add_apply(app, run);
  add_score(app, run);
  add_forecast(app, run);
  add_compare(app, run);
  add_watch(app, run);
  add_show(app, run);
  add_report(app, run);
  add_options_page(app, run);
}

}  // namespace

int main(int argc, char** argv) {
  return run_headwater(argc, argv, add_all,
                       [](const std::string& message) { say("headwater: {}\n", message); });
}
