#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "headwater/learning/online_em.hpp"

// One line of JSON for each observation, written as it happens.
class StepLog {
 public:
  explicit StepLog(const std::string& name);
  void write(const headwater::StepReport& report, const headwater::Estimate& estimate);

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
};
