#pragma once

#include <type_traits>
#include <utility>

#include "headwater/core/clone_pointer.hpp"
#include "headwater/emission/cellwise_law.hpp"

namespace headwater {

// Any law of the counts, as a value. Engines and learners are compiled once, against this.
class AnyLaw {
 public:
  AnyLaw();  // Poisson
  template <class L>
  requires(!std::same_as<std::remove_cvref_t<L>, AnyLaw> && detail::IntendedLaw<L>) AnyLaw(L law)
      : law_(in_blocks(std::move(law))) {
    static_assert(detail::explain_missing_law_functions<L>());
  }

  const BlockLaw& operator*() const { return *law_; }
  const BlockLaw* operator->() const { return law_.get(); }

  Parameters parameters() const { return law_->parameters(); }
  void set_parameter(const Parameter& parameter) { law_->set_parameter(parameter); }
  void maximise(std::span<const double> statistics, const Held& held) {
    law_->maximise(statistics, held);
  }

  // The law's parameters; which law it is, whoever reads knows.
  void exchange(StateArchive& archive);

 private:
  template <class L>
  static std::unique_ptr<BlockLaw> in_blocks(L law) {
    if constexpr (BlockedLaw<L>) {
      return law.in_blocks();
    } else {
      return std::make_unique<CellwiseLaw<L>>(std::move(law));
    }
  }

  ClonePointer<BlockLaw> law_;
};

}  // namespace headwater
