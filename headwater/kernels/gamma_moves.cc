#include "headwater/kernels/gamma_moves.hpp"

#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/gamma_moves.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

struct GammaTrial {
  HWY_INLINE explicit GammaTrial(V shape) {
    const Doubles tag;
    d = hn::Sub(shape, hn::Set(tag, 1.0 / 3));
    c = hn::Div(hn::Set(tag, 1.0), hn::Sqrt(hn::Mul(hn::Set(tag, 9.0), d)));
  }

  // 1 - v + log v = 3 (log(1 + t) - t) - t^2 (3 + t), which does not cancel for the small t of a
  // large d.
  HWY_INLINE V operator()(V z, V u) const {
    const Doubles tag;
    const auto one = hn::Set(tag, 1.0);
    const auto three = hn::Set(tag, 3.0);
    const auto t = hn::Mul(z, c);
    const auto is_positive = hn::Gt(t, hn::Set(tag, -1.0));
    const auto root = hn::IfThenElse(is_positive, hn::Add(one, t), one);
    const auto square = hn::Mul(t, t);
    const auto logarithms = hn::Mul(three, hn::Sub(log_of_ordinary(tag, root), t));
    const auto bracket = hn::NegMulAdd(square, hn::Add(three, t), logarithms);
    const auto most = hn::MulAdd(d, bracket, hn::Mul(hn::Mul(z, z), hn::Set(tag, 0.5)));
    const auto is_accepted = hn::And(is_positive, hn::Lt(log_of_ordinary(tag, u), most));
    const auto value = hn::Mul(d, hn::Mul(root, hn::Mul(root, root)));
    return hn::IfThenElse(is_accepted, value, hn::Set(tag, -1.0));
  }

  V d;
  V c;
};

void try_all(const double* normals, const double* uniforms, double shape, double* out,
             std::size_t size) {
  const GammaTrial trial(hn::Set(Doubles(), shape));
  map(size, out, [=](auto load) HWY_ATTR { return trial(load(normals), load(uniforms)); });
}

void try_all_shapes(const double* normals, const double* uniforms, const double* shapes,
                    double* out, std::size_t size) {
  map(size, out,
      [=](auto load) HWY_ATTR { return GammaTrial(load(shapes))(load(normals), load(uniforms)); });
}

void add_all_squares(const double* gammas, const double* normals, const double* previous,
                     double beta, double scale, double* out, std::size_t size) {
  map(size, out, [=](auto load) HWY_ATTR {
    const Doubles d;
    const auto shift = hn::Sqrt(hn::Mul(hn::Set(d, 2 * beta), load(previous)));
    const auto root = hn::Add(load(normals), shift);
    const auto half = hn::Mul(root, hn::Set(d, 0.5));
    return hn::Mul(hn::Set(d, scale), hn::MulAdd(root, half, load(gammas)));
  });
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(try_all);
HWY_EXPORT(try_all_shapes);
HWY_EXPORT(add_all_squares);

void gamma_trials(std::span<const double> normals, std::span<const double> uniforms, double shape,
                  std::span<double> out) {
  assert(shape >= 1);
  assert(normals.size() == out.size() && uniforms.size() == out.size());
  HWY_DYNAMIC_DISPATCH(try_all)
  (normals.data(), uniforms.data(), shape, out.data(), out.size());
}

void gamma_trials(std::span<const double> normals, std::span<const double> uniforms,
                  std::span<const double> shapes, std::span<double> out) {
  assert(normals.size() == out.size() && uniforms.size() == out.size());
  assert(shapes.size() == out.size());
  HWY_DYNAMIC_DISPATCH(try_all_shapes)
  (normals.data(), uniforms.data(), shapes.data(), out.data(), out.size());
}

void add_shifted_squares(std::span<const double> gammas, std::span<const double> normals,
                         std::span<const double> previous, double beta, double scale,
                         std::span<double> out) {
  assert(gammas.size() == out.size() && normals.size() == out.size());
  assert(previous.size() == out.size());
  HWY_DYNAMIC_DISPATCH(add_all_squares)
  (gammas.data(), normals.data(), previous.data(), beta, scale, out.data(), out.size());
}

}  // namespace headwater
#endif
