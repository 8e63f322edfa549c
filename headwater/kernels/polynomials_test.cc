#include "headwater/kernels/polynomials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

// The lists of variables in the order of the header, by their definition: ascending lists, each
// after the ones that it begins with.
void list_monomials(Index variables, int degree, std::vector<Index> list,
                    std::vector<std::vector<Index>>& out) {
  out.push_back(list);
  if (static_cast<int>(list.size()) == degree) return;
  for (Index k = list.empty() ? 0 : list.back(); k < variables; ++k) {
    list.push_back(k);
    list_monomials(variables, degree, list, out);
    list.pop_back();
  }
}

std::vector<std::vector<Index>> monomials(Index variables, int degree) {
  std::vector<std::vector<Index>> out;
  list_monomials(variables, degree, {}, out);
  return out;
}

double value_of(const std::vector<Index>& list, const Matrix& x, Index i) {
  double product = 1;
  for (const Index k : list) product *= x(i, k);
  return product;
}

std::size_t order(Index variables, int degree) {
  return num_monomials(static_cast<std::size_t>(variables), degree);
}

TEST(Polynomials, MonomialsAreCounted) {
  for (const Index variables : {1, 2, 3, 7}) {
    for (const int degree : {0, 1, 2, 3, 6}) {
      EXPECT_EQ(order(variables, degree), monomials(variables, degree).size());
    }
  }
}

// Points and numbers of at most 1: a sum of n products has an error of at most n^2 2^-52.
TEST(Polynomials, MomentsAreTheirDefinition) {
  under_each_instruction_set([] {
    for (const Index variables : {1, 2, 5}) {
      for (const int degree : {0, 1, 2, 4, 7}) {
        for (const Index points : {0, 1, 3, 8, 63, 64, 65, 200}) {
          const Matrix x = Matrix::Random(points + 1, variables).bottomRows(points);
          const Matrix weights = Matrix::Random(points, degree + 1);
          Vector out = Vector::Random(static_cast<Index>(order(variables, degree)));
          Vector expected = out;
          Index a = 0;
          for (const auto& list : monomials(variables, degree)) {
            for (Index i = 0; i < points; ++i) {
              expected[a] += weights(i, static_cast<Index>(list.size())) * value_of(list, x, i);
            }
            ++a;
          }
          add_moments(x, weights, as_span(out));
          const double n = static_cast<double>(points + degree + 2);
          EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 0x1p-52 * n * n);
        }
      }
    }
  });
}

TEST(Polynomials, ValuesPartsAndSlopesAreTheirDefinition) {
  under_each_instruction_set([] {
    for (const Index variables : {1, 2, 5, 9}) {
      for (const int degree : {0, 1, 2, 3, 6}) {
        for (const Index points : {1, 2, 7, 16, 37}) {
          const auto lists = monomials(variables, degree);
          const Matrix x = Matrix::Random(points, variables);
          const Matrix weights = Matrix::Random(points, degree + 1);
          const Vector coefficients = Vector::Random(static_cast<Index>(lists.size()));
          Matrix parts = Matrix::Zero(points, degree + 1);
          Matrix slopes = Matrix::Zero(points, variables);
          for (Index i = 0; i < points; ++i) {
            for (std::size_t a = 0; a < lists.size(); ++a) {
              const auto size = static_cast<Index>(lists[a].size());
              const double coefficient = coefficients[static_cast<Index>(a)];
              parts(i, size) += coefficient * value_of(lists[a], x, i);
              for (std::size_t left = 0; left < lists[a].size(); ++left) {
                auto others = lists[a];
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
                slopes(i, lists[a][left]) +=
                    weights(i, size) * coefficient * value_of(others, x, i);
              }
            }
          }
          const double bound = 0x1p-52 * 10 * static_cast<double>(lists.size() * 8);
          Vector values = Vector::Random(points);
          const Vector expected = values + parts.rowwise().sum();
          add_polynomial(x, as_span(coefficients), degree, as_span(values));
          EXPECT_LT((values - expected).cwiseAbs().maxCoeff(), bound);
          Matrix found_parts(points, degree + 1);
          Matrix found_slopes(points, variables);
          take_parts(x, as_span(coefficients), weights, found_parts, found_slopes);
          EXPECT_LT((found_parts - parts).cwiseAbs().maxCoeff(), bound);
          EXPECT_LT((found_slopes - slopes).cwiseAbs().maxCoeff(), bound);
          Matrix parts_alone(points, degree + 1);
          take_parts(x, as_span(coefficients), parts_alone);
          EXPECT_LT((parts_alone - parts).cwiseAbs().maxCoeff(), bound);
        }
      }
    }
  });
}

// (x . y)^d summed over points, by coefficients.
TEST(Polynomials, MultinomialsMakePowersOfSums) {
  const Matrix x = Matrix::Random(11, 4).cwiseAbs();
  const Matrix weights = Matrix::Random(11, 6);
  const Vector y = Vector::Random(4).cwiseAbs();
  Vector coefficients = Vector::Zero(static_cast<Index>(order(4, 5)));
  add_moments(x, weights, as_span(coefficients));
  multiply_by_multinomials(4, 5, as_span(coefficients));
  double expected = 0;
  for (Index i = 0; i < 11; ++i) {
    for (int d = 0; d <= 5; ++d) expected += weights(i, d) * std::pow(x.row(i).dot(y), d);
  }
  double found = 0;
  add_polynomial(y.transpose(), as_span(coefficients), 5, {&found, 1});
  EXPECT_NEAR(found, expected, 1e-11);
}

}  // namespace
}  // namespace headwater
