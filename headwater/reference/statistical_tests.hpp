#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

// Truths about samples. Each critical value is the one that a right sampler exceeds with
// probability alpha at most (the alarm rate) if the seed is drawn at random. Tests fix the seed:
// one that passes once passes always, and an alarm is a fault or a one-in-1/alpha accident.

namespace headwater::reference {

double normal_cdf(double x);

// The distribution function of a gamma variable of unit rate, P(shape, x) = γ(shape, x) / Γ(shape),
// and 1 - P, which keeps its digits where P is near 1. For shape > 0; relative error below 1e-12
// up to shape 100, and 1e-10 up to 1e4.
double gamma_cdf(double shape, double x);
double gamma_tail(double shape, double x);

// |z| of a standard normal variable is greater with probability alpha.
double normal_critical(double alpha);

// |t| of Student's t with so many degrees of freedom is greater with probability alpha <= 0.1: for
// the mean of n values over the standard error that their own spread gives, n - 1 degrees.
double student_critical(double degrees, double alpha);

// The chi-square statistic, sum of (observed - expected)^2 / expected, is greater with probability
// alpha. `degrees` is the number of cells less one, less the parameters fitted. That the statistic
// is chi-square is asymptotic: let no cell expect fewer than about twenty.
double chi_square_critical(double degrees, double alpha);
double chi_square_statistic(std::span<const double> observed, std::span<const double> expected);
// The same of a sample against its law, in the cells between these edges and beyond them. Sample
// and edges are sorted.
double chi_square_statistic(std::span<const double> sample, std::span<const double> edges,
                            const std::function<double(double)>& cdf);
// Edges of so many cells that hold equally many of a sorted sample: of another one than is tested.
std::vector<double> cell_edges(std::span<const double> sample, std::size_t num_cells);

// The largest distance between the distribution functions of n draws and of their law is greater
// with probability at most alpha, for every n and every law: P(D > c) <= 2 exp(-2 n c^2)
// [Massart1990], hence c = sqrt(-log(alpha / 2) / (2 n)). The sample must be sorted, and the cdf
// continuous.
double kolmogorov_smirnov_critical(std::size_t n, double alpha);
double kolmogorov_statistic(std::span<const double> sorted_sample,
                            const std::function<double(double)>& cdf);

}  // namespace headwater::reference
