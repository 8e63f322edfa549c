#include "headwater/kernels/relaxed_moves.hpp"

#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/relaxed_moves.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

struct RelaxedMove {
  double alpha;
  double inverse = 1 / alpha;
  double inverse_of_rest = 1 / (1 - alpha);

  HWY_INLINE V operator()(V u, V state) const {
    const Doubles d;
    const auto half = hn::Set(d, 0.5);
    const auto distance = hn::Abs(state);
    const auto rest = hn::Sub(hn::Set(d, 1.0), distance);
    const auto is_towards = hn::Lt(u, hn::Set(d, alpha));
    const auto towards = hn::Mul(distance, hn::Mul(u, hn::Set(d, inverse)));
    const auto v = hn::Mul(hn::Sub(u, hn::Set(d, alpha)), hn::Set(d, inverse_of_rest));
    const auto place = hn::MulAdd(rest, v, distance);
    // The distance to the nearer edge is the smaller of the distances to both edges.
    const auto away = hn::Min(place, hn::NegMulAdd(rest, v, rest));
    const auto crosses = hn::AndNot(is_towards, hn::Gt(place, half));
    const auto next = hn::IfThenElse(is_towards, towards, away);
    const auto within = hn::Min(hn::Max(next, hn::Set(d, kLeastDistance)), half);
    return hn::CopySignToAbs(within, hn::Xor(state, hn::VecFromMask(d, crosses)));
  }
};

struct RelaxedActivation {
  HWY_INLINE V operator()(V state) const {
    const Doubles d;
    const auto is_near_zero = hn::Gt(state, hn::Zero(d));
    return hn::Add(hn::IfThenZeroElse(is_near_zero, hn::Set(d, 1.0)), state);
  }
};

void move_all(const double* uniforms, const double* previous, double alpha, double* next,
              std::size_t size) {
  const RelaxedMove move{alpha};
  map(size, next, [=](auto load) HWY_ATTR { return move(load(uniforms), load(previous)); });
}

void activations_of_all(const double* states, std::size_t stride, double* x, std::size_t x_stride,
                        std::size_t size, std::size_t num_components) {
  for (std::size_t k = 0; k < num_components; ++k, states += stride, x += x_stride) {
    map(size, x, [=](auto load) HWY_ATTR { return RelaxedActivation()(load(states)); });
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(move_all);
HWY_EXPORT(activations_of_all);

void relaxed_moves(std::span<const double> uniforms, std::span<const double> previous, double alpha,
                   std::span<double> next) {
  assert(alpha > 0 && alpha < 1);
  assert(uniforms.size() == next.size() && previous.size() == next.size());
  HWY_DYNAMIC_DISPATCH(move_all)
  (uniforms.data(), previous.data(), alpha, next.data(), next.size());
}

void relaxed_activations(const Eigen::Ref<const Matrix>& states, Eigen::Ref<Matrix> x) {
  assert(states.rows() == x.rows() && states.cols() == x.cols());
  HWY_DYNAMIC_DISPATCH(activations_of_all)
  (states.data(), static_cast<std::size_t>(states.outerStride()), x.data(),
   static_cast<std::size_t>(x.outerStride()), static_cast<std::size_t>(x.rows()),
   static_cast<std::size_t>(x.cols()));
}

}  // namespace headwater
#endif
