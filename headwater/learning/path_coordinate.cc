#include "headwater/learning/path_coordinate.hpp"

#include <cmath>

namespace headwater {

namespace {

struct Coordinate {
  Coordinate(bool is_logarithmic, double z) {
    if (is_logarithmic) {
      u = z;
    } else {
      u = 3 * std::log(z);
      d1 = 3 / z;
      d2 = -3 / (z * z);
      d3 = 6 / (z * z * z);
    }
  }
  double u;
  double d1 = 1;  // derivatives of u
  double d2 = 0;
  double d3 = 0;
};

LogStateTerms in_coordinate(const LogStateTerms& f, const Coordinate& c) {
  return {f.value, f.d1 * c.d1, f.d2 * c.d1 * c.d1 + f.d1 * c.d2,
          f.d3 * c.d1 * c.d1 * c.d1 + 3 * f.d2 * c.d1 * c.d2 + f.d1 * c.d3};
}

// The density is one of z, so that it has a factor du / dz, with derivatives of its logarithm.
void add_density_of(const Coordinate& c, bool is_logarithmic, double z, LogStateTerms& out) {
  if (is_logarithmic) return;
  out.value += std::log(c.d1);
  out.d1 -= 1 / z;
  out.d2 += 1 / (z * z);
  out.d3 -= 2 / (z * z * z);
}

}  // namespace

LogStateTerms first_in_coordinate(const LogMoves& moves, Index k, double z) {
  const Coordinate c(moves.is_logarithmic(), z);
  LogStateTerms terms = in_coordinate(moves.first(k, c.u), c);
  add_density_of(c, moves.is_logarithmic(), z, terms);
  return terms;
}

LogMoveTerms move_in_coordinate(const LogMoves& moves, Index k, double before, double after) {
  if (moves.is_logarithmic()) return moves.move(k, before, after);
  const Coordinate b(false, before);
  const Coordinate a(false, after);
  const LogMoveTerms f = moves.move(k, b.u, a.u);
  const LogStateTerms of_before = in_coordinate({f.value, f.b, f.bb, f.bbb}, b);
  LogStateTerms of_after = in_coordinate({f.value, f.a, f.aa, f.aaa}, a);
  add_density_of(a, false, after, of_after);
  return {of_after.value,
          of_before.d1,
          of_after.d1,
          of_before.d2,
          f.ba * b.d1 * a.d1,
          of_after.d2,
          of_before.d3,
          (f.bba * b.d1 * b.d1 + f.ba * b.d2) * a.d1,
          (f.baa * a.d1 * a.d1 + f.ba * a.d2) * b.d1,
          of_after.d3};
}

}  // namespace headwater
