#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

// Statistical tests of samples. A correct sampler exceeds each critical value with probability at
// most alpha (the alarm rate), over random seeds. Tests fix the seed, so a test that passes once
// always passes. A failure is a fault or a chance event of probability alpha.

namespace headwater::reference {

double normal_cdf(double x);

// The distribution function of a gamma variable of unit rate, P(shape, x) = γ(shape, x) / Γ(shape),
// and 1 - P, which is accurate even if P is near 1. For shape > 0; relative error below 1e-12 up to
// shape 100, and below 1e-10 up to 1e4.
double gamma_cdf(double shape, double x);
double gamma_tail(double shape, double x);

// The value that |z| of a standard normal variable exceeds with probability alpha.
double normal_critical(double alpha);

// |t| of Student's t with so many degrees of freedom is greater with probability alpha <= 0.1: for
// the mean of n values over the standard error that their own spread gives, n - 1 degrees.
double student_critical(double degrees, double alpha);

// The chi-square statistic, sum of (observed - expected)^2 / expected, is greater with probability
// alpha. `degrees` is the number of cells less one, less the parameters fitted. That the statistic
// is chi-square is asymptotic: let no cell expect fewer than about twenty.
double chi_square_critical(double degrees, double alpha);
double chi_square_statistic(std::span<const double> observed, std::span<const double> expected);
// The chi-square statistic of a sample against its distribution, in the cells between the edges and
// beyond them. Sample and edges are sorted.
double chi_square_statistic(std::span<const double> sample, std::span<const double> edges,
                            const std::function<double(double)>& cdf);
// Edges of `num_cells` cells that hold equally many values of a sorted sample. It must be a
// different sample from the one that is tested.
std::vector<double> cell_edges(std::span<const double> sample, std::size_t num_cells);

// The value that the Kolmogorov-Smirnov distance of n draws exceeds with probability at most alpha,
// for every n and every distribution: P(D > c) <= 2 exp(-2 n c^2) [Massart1990], hence c =
// sqrt(-log(alpha / 2) / (2 n)). The sample must be sorted, and the cdf continuous.
double kolmogorov_smirnov_critical(std::size_t n, double alpha);
double kolmogorov_statistic(std::span<const double> sorted_sample,
                            const std::function<double(double)>& cdf);

}  // namespace headwater::reference
