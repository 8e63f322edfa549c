#pragma once

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "headwater/forecast.hpp"

namespace headwater::python {

// Means, and quantiles beside them: a row for each step and, in it, for each channel.
struct ForecastTables {
  RowMatrix means;      // horizon x channels
  RowMatrix quantiles;  // horizon channels x quantiles
};

inline ForecastTables tables_of(Forecast forecast, Index horizon, Index num_quantiles) {
  ForecastTables tables;
  for (Index h = 0; h < horizon; ++h) {
    forecast.next();
    const Vector mean = forecast.mean();
    if (h == 0) {
      tables.means.resize(horizon, mean.size());
      tables.quantiles.resize(horizon * mean.size(), num_quantiles);
    }
    tables.means.row(h) = mean.transpose();
    if (num_quantiles == 0) continue;
    tables.quantiles.middleRows(h * mean.size(), mean.size()) = forecast.quantiles();
  }
  return tables;
}

// The caller must hold the GIL.
inline std::pair<NumpyTable, NumpyTable> to_numpy(ForecastTables tables) {
  return {to_numpy(std::move(tables.means)), to_numpy(std::move(tables.quantiles))};
}

}  // namespace headwater::python
