#pragma once

#include <string>
#include <vector>

#include "arrays.hpp"
#include "headwater/concepts.hpp"
#include "headwater/random.hpp"

namespace headwater::python {

// A generator for each particle of a block. Draws are n x columns; those of particle i do not
// depend on the other particles in the block.
class ParticleRandom {
 public:
  ParticleRandom(const RandomBlock& block, Index size) {
    generators_.reserve(static_cast<std::size_t>(size));
    for (Index i = 0; i < size; ++i) generators_.push_back(block.particle(i));
  }

  Index size() const { return static_cast<Index>(generators_.size()); }

  NumpyTable uniform(Index columns) {
    return fill(columns, [](Generator& generator, Index, Index) { return generator.uniform(); });
  }
  NumpyTable normal(Index columns) {
    return fill(columns, [](Generator& g, Index, Index) { return headwater::normal(g); });
  }
  NumpyTable exponential(Index columns) {
    return fill(columns, [](Generator& g, Index, Index) { return headwater::exponential(g); });
  }
  NumpyTable gamma(const RowsIn& shape) {
    return follow(shape, "gamma", [](Generator& g, double a) { return headwater::gamma(g, a); });
  }
  NumpyTable poisson(const RowsIn& mean) {
    return follow(mean, "poisson", [](Generator& g, double m) { return headwater::poisson(g, m); });
  }

 private:
  template <class Draw>
  NumpyTable fill(Index columns, const Draw& draw) {
    RowMatrix numbers(size(), columns);
    for (Index i = 0; i < size(); ++i) {
      for (Index j = 0; j < columns; ++j) numbers(i, j) = draw(generators_[i], i, j);
    }
    return to_numpy(std::move(numbers));
  }

  // One draw for each element of an array of parameters with one row per particle.
  template <class Draw>
  NumpyTable follow(const RowsIn& parameters, const char* name, const Draw& draw) {
    const auto values = as_map(parameters);
    if (values.rows() != size()) {
      throw nb::value_error((std::string("random.") + name + " was given " +
                             std::to_string(values.rows()) + " rows for " + std::to_string(size()) +
                             " particles")
                                .c_str());
    }
    return fill(values.cols(),
                [&](Generator& g, Index i, Index j) { return draw(g, values(i, j)); });
  }

  std::vector<Generator> generators_;
};

}  // namespace headwater::python
