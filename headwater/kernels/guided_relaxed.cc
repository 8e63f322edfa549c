#include "headwater/kernels/guided_relaxed.hpp"

#include <algorithm>
#include <cassert>

#include "headwater/kernels/elementary.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/guided_relaxed.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

using Integers = hn::RebindToSigned<Doubles>;
using I = hn::Vec<Integers>;
using Mask = hn::Mask<Doubles>;

// The number of a cell on its side, and its index in the table of both sides.
struct Cell {
  V number;
  I index;
};

// Converts small integers, stored as doubles, to integers.
HWY_INLINE I as_index(V number) {
  return hn::PromoteTo(Integers(), hn::DemoteTo(hn::Rebind<std::int32_t, Doubles>(), number));
}

HWY_INLINE V look_up(const double* table, I index) {
  return hn::GatherIndex(Doubles(), table, index);
}

// The index of a side's first cell: 0 for the side of x = 0, kCount for the side of x = 1.
HWY_INLINE V side_begin(Mask is_near_one) {
  return hn::IfThenElseZero(is_near_one, hn::Set(Doubles(), double{DistanceCells::kCount}));
}

// The cell of a side that contains the distance; its index counts from `begin`.
HWY_INLINE Cell cell_of(V distance, V begin) {
  const Doubles d;
  const auto place =
      hn::Mul(hn::Set(d, double{DistanceCells::kCount}), hn::Sqrt(hn::Add(distance, distance)));
  const auto number = hn::Min(hn::Trunc(place), hn::Set(d, DistanceCells::kCount - 1.0));
  return {number, as_index(hn::Add(number, begin))};
}

HWY_INLINE V edge_of(V number) {
  const Doubles d;
  const auto part = hn::Mul(number, hn::Set(d, 1.0 / DistanceCells::kCount));
  return hn::Mul(hn::Mul(part, part), hn::Set(d, 0.5));
}

// The guided transition from each state. The "own" edge is the nearer one.
struct Moves {
  V distance, rest;  // distances to the own edge and to the other
  V own_begin;       // index of the first cell of the own side
  Mask is_near_one;
  V below;          // integral from the own edge up to the state
  V beyond;         // integral from the state up to 1/2
  V other;          // integral over the other side
  V towards, away;  // each direction's probability times the function's mean there

  HWY_INLINE Moves(const RelaxedTable& table, V state) {
    const Doubles d;
    is_near_one = hn::Le(state, hn::Zero(d));
    distance = hn::Abs(state);
    rest = hn::Sub(hn::Set(d, 1.0), distance);
    own_begin = side_begin(is_near_one);
    const Cell cell = cell_of(distance, own_begin);
    below = hn::MulAdd(look_up(table.values.data(), cell.index),
                       hn::Sub(distance, edge_of(cell.number)),
                       look_up(table.integrals.data(), cell.index));
    const auto zero = hn::Set(d, table.totals[0]);
    const auto one = hn::Set(d, table.totals[1]);
    other = hn::IfThenElse(is_near_one, zero, one);
    beyond = hn::Sub(hn::IfThenElse(is_near_one, one, zero), below);
    towards = hn::Div(hn::Mul(hn::Set(d, table.alpha), below), distance);
    away = hn::Div(hn::Mul(hn::Set(d, 1 - table.alpha), hn::Add(beyond, other)), rest);
  }
};

// The distance on a side up to which the function has this integral. Table look-ups are slow, so
// the last cell that begins before it is found in two steps: all groups of cells are compared
// without look-ups, then a binary search finds the cell within its group.
HWY_INLINE V inverse_integral(const RelaxedTable& table, V begin, V integral) {
  const Doubles d;
  const Integers di;
  constexpr int kRun = DistanceCells::kCount / 8;
  const auto is_near_one = hn::Gt(begin, hn::Zero(d));
  auto number = hn::Zero(d);
  auto before = hn::Zero(d);  // integral up to the cell
  for (int first = kRun; first < DistanceCells::kCount; first += kRun) {
    const auto there =
        hn::IfThenElse(is_near_one, hn::Set(d, table.integrals[DistanceCells::kCount + first]),
                       hn::Set(d, table.integrals[first]));
    const auto begins = hn::Le(there, integral);
    before = hn::IfThenElse(begins, there, before);
    number = hn::IfThenElse(begins, hn::Set(d, double(first)), number);
  }
  auto index = as_index(hn::Add(begin, number));
  for (int half = kRun / 2; half > 0; half /= 2) {
    const auto next = hn::Add(index, hn::Set(di, half));
    const auto there = look_up(table.integrals.data(), next);
    const auto begins = hn::Le(there, integral);
    before = hn::IfThenElse(begins, there, before);
    index = hn::IfThenElse(hn::RebindMask(di, begins), next, index);
    number = hn::Add(number, hn::IfThenElseZero(begins, hn::Set(d, double(half))));
  }
  const auto low = edge_of(number);
  const auto high = edge_of(hn::Add(number, hn::Set(d, 1.0)));
  const auto place =
      hn::Add(low, hn::Div(hn::Sub(integral, before), look_up(table.values.data(), index)));
  return hn::Min(hn::Max(place, low), high);
}

// Draws the next state by inversion. The target's mass (towards + away) is traversed from the own
// edge to the state, then to 1/2, then from the other edge to 1/2; `point` is the mass before the
// next state.
HWY_INLINE V moved(const RelaxedTable& table, V uniform, V state) {
  const Doubles d;
  const Moves moves(table, state);
  const auto point = hn::Mul(uniform, hn::Add(moves.towards, moves.away));
  const auto is_towards = hn::Lt(point, moves.towards);
  // The integrals of the function from the own edge (`until`) and from the state (`along`).
  const auto until = hn::Mul(hn::Mul(point, moves.distance), hn::Set(d, 1 / table.alpha));
  const auto along = hn::Mul(hn::Mul(hn::Sub(point, moves.towards), moves.rest),
                             hn::Set(d, 1 / (1 - table.alpha)));
  const auto crosses = hn::AndNot(is_towards, hn::Ge(along, moves.beyond));

  const auto own = hn::IfThenElse(is_towards, until, hn::Add(moves.below, along));
  const auto integral = hn::IfThenElse(crosses, hn::Sub(along, moves.beyond), own);
  const auto other_begin = hn::Sub(hn::Set(d, double{DistanceCells::kCount}), moves.own_begin);
  const auto found =
      inverse_integral(table, hn::IfThenElse(crosses, other_begin, moves.own_begin), integral);

  // In the cell at the edge the next distance is computed as a fraction of the old one, so that
  // tiny distances keep their relative accuracy.
  const auto is_first = hn::Lt(moves.distance, hn::Set(d, DistanceCells::edge(1)));
  const auto part = hn::Mul(point, hn::IfThenElse(moves.is_near_one, hn::Set(d, table.scales[1]),
                                                  hn::Set(d, table.scales[0])));
  const auto nearer =
      hn::Min(hn::IfThenElse(is_first, hn::Mul(part, moves.distance), found), moves.distance);
  const auto farther = hn::IfThenElse(crosses, found, hn::Max(found, moves.distance));
  const auto next =
      hn::Max(hn::IfThenElse(is_towards, nearer, farther), hn::Set(d, kLeastDistance));
  return hn::CopySignToAbs(next, hn::Xor(state, hn::VecFromMask(d, crosses)));
}

void cells_of_all(const double* states, std::int32_t* cells, std::size_t size) {
  const Doubles d;
  const hn::Rebind<std::int32_t, Doubles> di;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    const auto state =
        count == lanes ? hn::LoadU(d, states + i) : load_part(d, states + i, count, 0.5);
    const auto begin = side_begin(hn::Le(state, hn::Zero(d)));
    const auto cell = cell_of(hn::Abs(state), begin);
    const auto found = hn::DemoteTo(di, hn::Add(cell.number, begin));
    if (count == lanes) {
      hn::StoreU(found, di, cells + i);
    } else {
      HWY_ALIGN std::int32_t buffer[hn::MaxLanes(d)];
      hn::StoreU(found, di, buffer);
      for (std::size_t l = 0; l < count; ++l) cells[i + l] = buffer[l];
    }
  }
}

void multiply_all(const RelaxedTable& table, const double* states, double* products,
                  std::size_t size) {
  map(size, products, [&, states, products](auto load) HWY_ATTR {
    const Moves moves(table, load(states));
    return hn::Mul(load(products), hn::Add(moves.towards, moves.away));
  });
}

void draw_all(const RelaxedTable& table, const double* uniforms, const double* states, double* next,
              std::size_t size) {
  map(size, next, [&, uniforms, states](auto load) HWY_ATTR {
    return moved(table, load(uniforms), load(states));
  });
}

void add_all_log_values(const RelaxedTable& table, const double* states, double* sums,
                        std::size_t size) {
  map(size, sums, [&, states, sums](auto load) HWY_ATTR {
    const auto state = load(states);
    const auto begin = side_begin(hn::Le(state, hn::Zero(Doubles())));
    const Cell cell = cell_of(hn::Abs(state), begin);
    return hn::Add(load(sums), look_up(table.log_values.data(), cell.index));
  });
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(cells_of_all);
HWY_EXPORT(multiply_all);
HWY_EXPORT(draw_all);
HWY_EXPORT(add_all_log_values);

void RelaxedTable::set(std::span<const double> logarithms, double probability) {
  assert(logarithms.size() == kBothSides);
  alpha = probability;
  std::ranges::copy(logarithms, log_values.begin());
  vector_exp(logarithms, values);
  totals = {0, 0};
  for (std::size_t i = 0; i < kBothSides; ++i) {
    double& total = totals[i / DistanceCells::kCount];
    integrals[i] = total;
    total += values[i] * DistanceCells::width(static_cast<int>(i) % DistanceCells::kCount);
  }
  scales = {1 / (alpha * values[0]), 1 / (alpha * values[DistanceCells::kCount])};
}

void relaxed_cells(std::span<const double> states, std::span<std::int32_t> cells) {
  assert(cells.size() == states.size());
  HWY_DYNAMIC_DISPATCH(cells_of_all)(states.data(), cells.data(), states.size());
}

void multiply_relaxed_worths(const RelaxedTable& table, std::span<const double> states,
                             std::span<double> products) {
  assert(products.size() == states.size());
  HWY_DYNAMIC_DISPATCH(multiply_all)(table, states.data(), products.data(), states.size());
}

void guided_relaxed_moves(const RelaxedTable& table, std::span<const double> uniforms,
                          std::span<const double> states, std::span<double> next) {
  assert(uniforms.size() == next.size() && states.size() == next.size());
  HWY_DYNAMIC_DISPATCH(draw_all)
  (table, uniforms.data(), states.data(), next.data(), next.size());
}

void add_relaxed_log_values(const RelaxedTable& table, std::span<const double> states,
                            std::span<double> sums) {
  assert(sums.size() == states.size());
  HWY_DYNAMIC_DISPATCH(add_all_log_values)(table, states.data(), sums.data(), states.size());
}

}  // namespace headwater
#endif
